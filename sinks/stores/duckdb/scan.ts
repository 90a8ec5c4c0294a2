/** Every document of a query in order, of those that an index holds when the scan begins: files only grow, so the number of their rows is a snapshot. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ScanRequest, SearchAfter, SearchHit } from '../../../schemas/query.js';
import type { Kept } from './kept.js';
import type { ScanPlaces, WantedRows } from './protocol.js';
import type { SearchedIndex } from './found.js';
import { fetchHits, findFirst, findNearest, placeOf, type EngineSearch } from './search.js';

interface Page {
  /** Of the file. */
  readonly rows: number;
  readonly after: SearchAfter | undefined;
  readonly limit: number;
}

/** Places of one index from `after` on. */
export async function scanPlaces(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: Omit<ScanRequest, 'signal'>,
  { rows, after, limit }: Page,
  kept: Kept,
): Promise<ScanPlaces> {
  const sort = request.sort ?? { field: 'timestamp', direction: 'desc' };
  const asked: EngineSearch = { ...request, limit, after };
  const counts = sort.field === 'timestamp' ? await kept.counts.find(connection, index.file, request) : undefined;
  const found =
    counts === undefined
      ? await findFirst(connection, index, asked, sort, rows)
      : await findNearest(connection, index, asked, sort, counts, rows);
  const values = found.map((one) => placeOf(one, sort).sortValue);
  return {
    rows: Float64Array.from(found, (one) => one.row),
    values: values.every((value) => typeof value === 'number') ? Float64Array.from(values) : values,
    ids: found.map((one) => one.id),
  };
}

/** Parallel to `wanted`, each in its order. */
export async function scanDocuments(
  connection: DuckDBConnection,
  indices: readonly SearchedIndex[],
  wanted: readonly WantedRows[],
  fields: readonly string[] | undefined,
): Promise<SearchHit[][]> {
  const byName = new Map(indices.map((index) => [index.name, index]));
  const hits: SearchHit[][] = [];
  for (const { index: name, rows, ids } of wanted) {
    const index = byName.get(name);
    const found =
      index === undefined ? [] : ids.map((id, at) => ({ index, row: rows[at] ?? 0, number: null, text: null, id }));
    hits.push(await fetchHits(connection, found, fields));
  }
  return hits;
}
