/** Runs one search over several index files and merges what they find. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchAfter, SearchHit, SearchRequest, SearchResult } from '../../../schemas/query.js';
import { conditionSql, isWorthKeeping } from './condition-sql.js';
import { countRows } from './count-rows.js';
import type { Field } from './fields.js';
import { compareFound, type Found, type Matches, type SearchedIndex } from './found.js';
import { findHeld } from './held-search.js';
import type { IndexFile } from './index-file.js';
import type { Kept } from './kept.js';
import { restoreDocument, type ParsedRow } from './restore.js';
import { afterSql, boundSql, orderSql, sortColumns, type SortColumns } from './sort-sql.js';
import { readTime } from './times.js';
import type { TimeCounts } from './time-counts.js';
import { mayBeInOtherFields, SqlParameters } from './value-sql.js';

export type EngineSearch = Omit<SearchRequest, 'signal'>;
type SortOrder = NonNullable<SearchRequest['sort']>;

export async function searchIndices(
  connection: DuckDBConnection,
  indices: readonly SearchedIndex[],
  request: EngineSearch,
  skipped: readonly string[],
  kept: Kept,
): Promise<SearchResult> {
  let total = 0;
  let found: Found[] = [];
  const sort: SortOrder = request.sort ?? { field: 'timestamp', direction: 'desc' };
  for (const index of indices) {
    if (index.file.documents === 0) continue;
    const matches = await findMatches(connection, index, request, sort, kept);
    total += matches.count;
    found = found.concat(matches.first);
    found.sort(compareFound(sort.direction));
    found.length = Math.min(found.length, request.limit);
  }
  return {
    total: request.count === false ? found.length : total,
    hits: await fetchHits(connection, found, request.fields),
    skipped,
    next: found.length === 0 ? undefined : placeOf(found.at(-1) as Found, sort),
  };
}

export function placeOf(last: Found, sort: SortOrder): SearchAfter {
  return {
    sortValue: sort.field === '_id' ? last.id : (last.number ?? last.text),
    id: last.id,
    index: last.index.name,
  };
}

/** More than these are sorted by the engine. */
const mostFromKept = 2000;

async function findMatches(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: EngineSearch,
  sort: SortOrder,
  kept: Kept,
): Promise<Matches> {
  const few = request.limit <= mostFromKept;
  const held =
    few && sort.field === 'timestamp' && isWorthKeeping(request.query)
      ? await findKept(connection, index, request, sort, kept)
      : undefined;
  if (held !== undefined) return held;
  const counts = await kept.counts.find(connection, index.file, request);
  if (counts !== undefined) {
    const count = request.count === false ? undefined : await countRows(connection, index.file, request, counts);
    return {
      count: count ?? 0,
      first: count === 0 || request.limit <= 0 ? [] : await findNearest(connection, index, request, sort, counts),
    };
  }
  const count = request.count === false ? undefined : await countMatches(connection, index, request);
  return {
    count: count ?? 0,
    first: count === 0 || request.limit <= 0 ? [] : await findFirst(connection, index, request, sort),
  };
}

async function findKept(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: EngineSearch,
  { direction }: SortOrder,
  kept: Kept,
): Promise<Matches | undefined> {
  const held = await kept.rows.hold(connection, index.file, request);
  try {
    return held === undefined ? undefined : await findHeld(connection, index, held, { ...request, direction });
  } finally {
    held?.release();
  }
}

/** The first ones, by time in no more of the file than holds them. `rows`: of so many rows of the file, of which there may be fewer than have been counted. */
export async function findNearest(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: EngineSearch,
  sort: SortOrder,
  counts: TimeCounts,
  rows = counts.covered,
): Promise<Found[]> {
  const after = placeInTime(request, sort);
  if (after === undefined) return findFirst(connection, index, request, sort, rows);
  for (let wanted = request.limit; ; wanted *= 8) {
    const span = counts.nearest(after, sort.direction, wanted);
    const isAll = span.from === after.from && span.to === after.to;
    const found = await findFirst(connection, index, isAll ? request : { ...request, ...span }, sort, rows);
    if (isAll || found.length >= request.limit) return found;
  }
}

/** The span of time in which rows with a time can follow the place that the request goes on from; undefined: no rows with a time do, or the order is another one. */
function placeInTime(
  { from, to, after }: EngineSearch,
  { field, direction }: SortOrder,
): Pick<EngineSearch, 'from' | 'to'> | undefined {
  if (field !== 'timestamp') return undefined;
  if (after === undefined) return { from, to };
  const time = after.sortValue === null ? undefined : readTime(after.sortValue);
  if (time === undefined) return undefined;
  return direction === 'asc'
    ? { from: Math.max(time, from ?? -Infinity), to }
    : { from, to: Math.min(time + 1, to ?? Infinity) };
}

function runSql(connection: DuckDBConnection, sql: string, parameters: SqlParameters) {
  const statement = parameters.statement(sql);
  return connection.runAndReadAll(statement.sql, statement.values);
}

async function countMatches(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: EngineSearch,
): Promise<number> {
  const parameters = new SqlParameters();
  const sql = `SELECT count(*)::DOUBLE FROM ${index.file.alias}.documents WHERE ${conditionSql(index.file.fields, request, parameters)}`;
  const rows = await runSql(connection, sql, parameters);
  return rows.getRows()[0]?.[0] as number;
}

/** With `rows`: of the first so many rows of the file only. */
export async function findFirst(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: EngineSearch,
  sort: SortOrder,
  rows?: number,
): Promise<Found[]> {
  const parameters = new SqlParameters();
  const condition = conditionSql(index.file.fields, request, parameters);
  const columns: SortColumns = sortColumns(index.file.fields, sort.field, parameters);
  const after = request.after === undefined ? '' : ` WHERE ${afterSql(sort, request.after, index.name, parameters)}`;
  const sql =
    `SELECT row_number, sort_number, sort_text, _id FROM (SELECT rowid::DOUBLE AS row_number, ${columns.number} AS sort_number,` +
    ` ${columns.text} AS sort_text, _id FROM ${index.file.alias}.documents WHERE ${condition}${boundSql(index.file.fields, sort, request.after)}${rows === undefined ? '' : ` AND rowid < ${rows}`})${after} ORDER BY ${orderSql(sort.direction, columns)} LIMIT ${Math.floor(request.limit)}`;
  const result = await runSql(connection, sql, parameters);
  return result.getRows().map((row) => {
    const [place, number, text, id] = row as [number, number | null, string | null, string];
    return { index, row: place, number, text, id };
  });
}

export async function fetchHits(
  connection: DuckDBConnection,
  found: readonly Found[],
  wanted: readonly string[] | undefined,
): Promise<SearchHit[]> {
  if (wanted?.length === 0) return found.map((one) => ({ _id: one.id, _index: one.index.name, document: {} }));
  const byIndex = new Map<SearchedIndex, Found[]>();
  for (const one of found) {
    const rows = byIndex.get(one.index);
    if (rows === undefined) byIndex.set(one.index, [one]);
    else rows.push(one);
  }
  const documents = new Map<Found, Readonly<Record<string, unknown>>>();
  for (const [index, rows] of byIndex) {
    const columns = wantedColumns(index.file, wanted);
    const stored = await fetchRows(
      connection,
      index.file,
      { columns, others: needsOtherFields(index.file, wanted) },
      rows.map((one) => one.row),
    );
    for (const one of rows) {
      const row = stored.get(one.row);
      if (row !== undefined) documents.set(one, project(restoreDocument(columns, row), wanted));
    }
  }
  return found.flatMap((one) => {
    const document = documents.get(one);
    return document === undefined ? [] : [{ _id: one.id, _index: one.index.name, document }];
  });
}

function wantedColumns(file: IndexFile, wanted: readonly string[] | undefined): Field[] {
  return wanted === undefined ? file.columns() : file.columns().filter((field) => wanted.includes(field.name));
}

function project(document: Record<string, unknown>, wanted: readonly string[] | undefined): Record<string, unknown> {
  return wanted === undefined
    ? document
    : Object.fromEntries(Object.entries(document).filter(([name]) => wanted.includes(name)));
}

/** Reading it costs as much as all the rest. */
function needsOtherFields(file: IndexFile, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.some((name) => mayBeInOtherFields(file.fields, file.fields.get(name)));
}

interface WantedCells {
  readonly columns: readonly Field[];
  readonly others: boolean;
}

async function fetchRows(
  connection: DuckDBConnection,
  file: IndexFile,
  { columns, others }: WantedCells,
  rows: readonly number[],
): Promise<Map<number, ParsedRow>> {
  const names = [
    'rowid::DOUBLE',
    others ? 'other_fields' : 'NULL::VARCHAR',
    'overrides',
    ...columns.map((field) => `c${field.slot}`),
  ];
  if (rows.length === 0) return new Map();
  // The bounds let the engine pass most of the file by.
  const bounds = `rowid >= ${rows.reduce((least, row) => Math.min(least, row))} AND rowid <= ${rows.reduce((most, row) => Math.max(most, row))}`;
  const result = await connection.runAndReadAll(
    `SELECT ${names.join(', ')} FROM ${file.alias}.documents WHERE rowid IN (${rows.join(', ')}) AND ${bounds}`,
  );
  const fetched = new Map<number, ParsedRow>();
  for (const row of result.getRows()) {
    const [place, otherFields, overrides, ...cells] = row as [number, string | null, string | null, ...unknown[]];
    fetched.set(place, { otherFields, overrides, cells });
  }
  return fetched;
}
