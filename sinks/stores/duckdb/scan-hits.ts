/** The scan as the caller sees it: places of each index page by page, joined in order, then their documents. */
import { compareCodePoints } from '../../../core/values.js';
import type { ScanRequest, SearchAfter, SearchHit } from '../../../schemas/query.js';
import { comparePlaces } from '../places.js';
import { PageSize } from '../../../core/page-size.js';
import { mergeOrdered, type NextPage } from '../merge.js';
import { storeError } from './failures.js';
import type { ScanPlace } from './protocol.js';
import type { WorkerClient } from './worker-client.js';

/** Places of all indices together that are held; each page of them costs a look through the index. */
const heldPlaces = 50_000;
const leastPlaces = 2_000;

export async function* scanHits(worker: WorkerClient, request: ScanRequest): AsyncGenerator<readonly SearchHit[]> {
  const { signal, ...rest } = request;
  const direction = request.sort?.direction ?? 'desc';
  const rows = await worker.call('scanRows', request.indices);
  const limit = Math.max(leastPlaces, Math.floor(heldPlaces / Math.max(1, rows.size)));
  const sources = [...rows].sort(([left], [right]) => compareCodePoints(left, right)).map(([index, count]): NextPage<ScanPlace> => {
    let after: SearchAfter | undefined;
    let ended = count === 0;
    return async () => {
      if (ended) return undefined;
      assertGoesOn(signal);
      const places = await worker.call('scanPlaces', { request: rest, index, rows: count, after, limit }, signal);
      after = places.at(-1)?.place;
      ended = places.length < limit;
      return places;
    };
  });
  const byPlace = comparePlaces(direction);
  const pageSize = new PageSize();
  for await (const places of mergeOrdered(sources, (left, right) => byPlace(left.place, right.place), () => pageSize.size)) {
    assertGoesOn(signal);
    const indices = [...new Set(places.map(({ place }) => place.index ?? ''))];
    const hits = await worker.call('scanDocuments', { indices, places, fields: request.fields }, signal);
    pageSize.learn(hits.map(({ document }) => document));
    yield hits;
  }
}

function assertGoesOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw storeError('STORE_SEARCH_CANCELLED', 'search');
}
