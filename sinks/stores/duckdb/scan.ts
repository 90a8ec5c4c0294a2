/** Every document of a query in order, of those that an index holds when the scan begins: files only grow, so the number of their rows is a snapshot. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ScanRequest, SearchAfter, SearchHit } from '../../../schemas/query.js';
import type { Kept } from './kept.js';
import type { ScanPlace } from './protocol.js';
import type { SearchedIndex } from './found.js';
import { fetchHits, findFirst, findNearest, placeOf, type EngineSearch } from './search.js';

interface Page {
  /** Of the file. */
  readonly rows: number;
  readonly after: SearchAfter | undefined;
  readonly limit: number;
}

/** Places of one index from `after` on. */
export async function scanPlaces(connection: DuckDBConnection, index: SearchedIndex, request: Omit<ScanRequest, 'signal'>, { rows, after, limit }: Page, kept: Kept): Promise<ScanPlace[]> {
  const sort = request.sort ?? { field: 'timestamp', direction: 'desc' };
  const asked: EngineSearch = { ...request, limit, after };
  const counts = sort.field === 'timestamp' ? await kept.counts.find(connection, index.file, request) : undefined;
  const found = counts === undefined ? await findFirst(connection, index, asked, sort, rows) : await findNearest(connection, index, asked, sort, counts, rows);
  return found.map((one) => ({ row: one.row, place: placeOf(one, sort) }));
}

export async function scanDocuments(connection: DuckDBConnection, indices: readonly SearchedIndex[], places: readonly ScanPlace[], fields: readonly string[] | undefined): Promise<SearchHit[]> {
  const byName = new Map(indices.map((index) => [index.name, index]));
  const found = places.flatMap(({ row, place }) => {
    const index = byName.get(place.index ?? '');
    return index === undefined ? [] : [{ index, row, number: null, text: null, id: place.id }];
  });
  return fetchHits(connection, found, fields);
}
