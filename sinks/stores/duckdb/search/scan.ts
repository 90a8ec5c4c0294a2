/**
 * Every document of a query in order, of those that an index has when the scan begins: files only grow, so the number
 * of their rows is a snapshot.
 */
import type { SearchHit } from '../../../../schemas/query.js';
import type { ScannedRows, ScanPage, WantedRows } from '../engine/contract.js';
import { fetchHits } from './fetch-hits.js';
import { findFirst, findNearest, newestFirst, positionOf } from './find-first.js';
import type { Reading } from './reading.js';

/** One page of one index. */
export async function scanRows(
  { connection, indices: [index], retained }: Reading,
  { request, rows, after, limit }: ScanPage,
): Promise<ScannedRows> {
  if (index === undefined) return { rows: new Float64Array(0), values: new Float64Array(0), ids: [] };
  const sort = request.sort ?? newestFirst;
  const asked = { ...request, sort, limit, after };
  const counts = sort.field === 'timestamp' ? await retained.counts.find(connection, index.file, request) : undefined;
  const found =
    counts === undefined
      ? await findFirst(connection, index, asked, rows)
      : await findNearest(connection, index, asked, { counts, rows });
  const values = found.map((one) => positionOf(one, sort).sortValue);
  return {
    rows: Float64Array.from(found, (one) => one.row),
    values: values.every((value) => typeof value === 'number') ? Float64Array.from(values) : values,
    ids: found.map((one) => one.id),
  };
}

/** Parallel to `wanted`, each in its order. */
export async function scanDocuments(
  { connection, indices }: Reading,
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
