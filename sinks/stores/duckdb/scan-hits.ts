/** The scan as the caller sees it: rows of each index page by page, joined in order, then their documents. */
import { compareCodePoints } from '../../../core/values.js';
import type { ScanRequest, SearchAfter, SearchHit } from '../../../schemas/query.js';
import { comparePositions } from '../sort-order.js';
import { PageSize } from '../../../core/page-size.js';
import { mergeOrdered, type MergedPage, type NextPage } from '../merge.js';
import { storeError } from './failures.js';
import type { ScannedRows, WantedRows } from './engine/contract.js';
import type { EngineGroups } from './worker/protocol.js';
import type { Remote } from './worker/remote.js';

type Engine = Remote<EngineGroups['queries']>;

/** Rows of all indices together that wait in memory; each page of them costs a look through the index. */
const mostWaitingRows = 50_000;
const leastPageRows = 2_000;

interface ScannedRow {
  readonly row: number;
  readonly position: SearchAfter & { readonly index: string };
}

class RowPage implements MergedPage<ScannedRow> {
  readonly #index: string;
  readonly #scanned: ScannedRows;

  constructor(index: string, scanned: ScannedRows) {
    this.#index = index;
    this.#scanned = scanned;
  }

  get length(): number {
    return this.#scanned.rows.length;
  }

  at(offset: number): ScannedRow | undefined {
    const { rows, values, ids } = this.#scanned;
    const [row, id] = [rows.at(offset), ids.at(offset)];
    return row === undefined || id === undefined
      ? undefined
      : { row, position: { sortValue: values.at(offset) ?? null, id, index: this.#index } };
  }
}

export async function* scanHits(engine: Engine, request: ScanRequest): AsyncGenerator<readonly SearchHit[]> {
  const { signal, ...rest } = request;
  const direction = request.sort?.direction ?? 'desc';
  const rows = await engine.countRows(request.indices);
  const limit = Math.max(leastPageRows, Math.floor(mostWaitingRows / Math.max(1, rows.size)));
  const sources = [...rows]
    .sort(([left], [right]) => compareCodePoints(left, right))
    .map(([index, count]): NextPage<ScannedRow> => {
      let after: SearchAfter | undefined;
      let ended = count === 0;
      return async () => {
        if (ended) return undefined;
        assertGoesOn(signal);
        const page = new RowPage(
          index,
          await engine.scanRows({ request: rest, signal, index, rows: count, after, limit }),
        );
        after = page.at(-1)?.position;
        ended = page.length < limit;
        return page;
      };
    });
  const byPosition = comparePositions(direction);
  const pageSize = new PageSize();
  for await (const scanned of mergeOrdered(
    sources,
    (left, right) => byPosition(left.position, right.position),
    () => pageSize.size,
  )) {
    assertGoesOn(signal);
    const hits = await hitsOf(engine, scanned, request);
    pageSize.learn(hits.map(({ document }) => document));
    yield hits;
  }
}

/** In the order of the rows. */
async function hitsOf(
  engine: Engine,
  scanned: readonly ScannedRow[],
  { fields, signal }: ScanRequest,
): Promise<SearchHit[]> {
  const byIndex = new Map<string, ScannedRow[]>();
  for (const one of scanned) {
    const others = byIndex.get(one.position.index);
    if (others === undefined) byIndex.set(one.position.index, [one]);
    else others.push(one);
  }
  const wanted = Array.from(
    byIndex,
    ([index, some]): WantedRows => ({
      index,
      rows: Float64Array.from(some, ({ row }) => row),
      ids: some.map(({ position }) => position.id),
    }),
  );
  const found = await engine.scanDocuments({ signal, wanted, fields });
  const next = new Map(wanted.map(({ index }, at) => [index, (found[at] ?? [])[Symbol.iterator]()]));
  return scanned.flatMap(({ position }) => next.get(position.index)?.next().value ?? []);
}

function assertGoesOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw storeError('STORE_SEARCH_CANCELLED', 'search');
}
