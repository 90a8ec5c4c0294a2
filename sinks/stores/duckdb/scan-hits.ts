/** The scan as the caller sees it: places of each index page by page, joined in order, then their documents. */
import { compareCodePoints } from '../../../core/values.js';
import type { ScanRequest, SearchAfter, SearchHit } from '../../../schemas/query.js';
import { comparePlaces } from '../places.js';
import { PageSize } from '../../../core/page-size.js';
import { mergeOrdered, type MergedPage, type NextPage } from '../merge.js';
import { storeError } from './failures.js';
import type { ScanPlaces, WantedRows } from './protocol.js';
import type { WorkerClient } from './worker-client.js';

/** Places of all indices together that are held; each page of them costs a look through the index. */
const heldPlaces = 50_000;
const leastPlaces = 2_000;

interface ScanPlace {
  readonly row: number;
  readonly place: SearchAfter & { readonly index: string };
}

class PlacePage implements MergedPage<ScanPlace> {
  readonly #index: string;
  readonly #places: ScanPlaces;

  constructor(index: string, places: ScanPlaces) {
    this.#index = index;
    this.#places = places;
  }

  get length(): number {
    return this.#places.rows.length;
  }

  at(place: number): ScanPlace | undefined {
    const { rows, values, ids } = this.#places;
    const [row, id] = [rows.at(place), ids.at(place)];
    return row === undefined || id === undefined
      ? undefined
      : { row, place: { sortValue: values.at(place) ?? null, id, index: this.#index } };
  }
}

export async function* scanHits(worker: WorkerClient, request: ScanRequest): AsyncGenerator<readonly SearchHit[]> {
  const { signal, ...rest } = request;
  const direction = request.sort?.direction ?? 'desc';
  const rows = await worker.call('scanRows', request.indices);
  const limit = Math.max(leastPlaces, Math.floor(heldPlaces / Math.max(1, rows.size)));
  const sources = [...rows]
    .sort(([left], [right]) => compareCodePoints(left, right))
    .map(([index, count]): NextPage<ScanPlace> => {
      let after: SearchAfter | undefined;
      let ended = count === 0;
      return async () => {
        if (ended) return undefined;
        assertGoesOn(signal);
        const page = new PlacePage(
          index,
          await worker.call('scanPlaces', { request: rest, index, rows: count, after, limit }, signal),
        );
        after = page.at(-1)?.place;
        ended = page.length < limit;
        return page;
      };
    });
  const byPlace = comparePlaces(direction);
  const pageSize = new PageSize();
  for await (const places of mergeOrdered(
    sources,
    (left, right) => byPlace(left.place, right.place),
    () => pageSize.size,
  )) {
    assertGoesOn(signal);
    const hits = await hitsOf(worker, places, request);
    pageSize.learn(hits.map(({ document }) => document));
    yield hits;
  }
}

/** In the order of the places. */
async function hitsOf(
  worker: WorkerClient,
  places: readonly ScanPlace[],
  { fields, signal }: ScanRequest,
): Promise<SearchHit[]> {
  const byIndex = new Map<string, ScanPlace[]>();
  for (const one of places) {
    const others = byIndex.get(one.place.index);
    if (others === undefined) byIndex.set(one.place.index, [one]);
    else others.push(one);
  }
  const wanted = Array.from(
    byIndex,
    ([index, some]): WantedRows => ({
      index,
      rows: Float64Array.from(some, ({ row }) => row),
      ids: some.map(({ place }) => place.id),
    }),
  );
  const found = await worker.call('scanDocuments', { wanted, fields }, signal);
  const next = new Map(wanted.map(({ index }, at) => [index, (found[at] ?? [])[Symbol.iterator]()]));
  return places.flatMap(({ place }) => next.get(place.index)?.next().value ?? []);
}

function assertGoesOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw storeError('STORE_SEARCH_CANCELLED', 'search');
}
