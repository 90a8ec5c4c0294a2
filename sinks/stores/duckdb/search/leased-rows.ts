/** Counts and finds the first of rows that are known to match, ordered by `timestamp`. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchAfter, SearchRequest } from '../../../../schemas/query.js';
import { comparePositions } from '../../sort-order.js';
import { timesSql } from '../sql/condition-sql.js';
import { compareFound, type Found, type Matches, type SearchedIndex } from './found.js';
import type { FoundRow } from '../retained/find-few.js';
import type { RowsLease } from '../retained/retained-rows.js';
import { readTime } from '../sql/times.js';
import { numberSql } from '../sql/value-sql.js';
import { numberCell, textCell } from '../sql/cells.js';

type LeaseRequest = Pick<SearchRequest, 'from' | 'to' | 'limit' | 'after'> & { readonly direction: 'asc' | 'desc' };

/**
 * Rows of the last equal time that are looked at beside those that are wanted; more of them are left to the engine's
 * own sort.
 */
const maxTies = 10_000;

/** Undefined where the order cannot be told from the times alone. */
export async function findInLease(
  connection: DuckDBConnection,
  index: SearchedIndex,
  { source, list, rows }: RowsLease,
  request: LeaseRequest,
): Promise<Matches | undefined> {
  if (rows === 0) return { count: 0, first: [] };
  if (list !== undefined) return findListed(index, list, request);
  const times = timesSql('time', request).join(' AND ') || 'true';
  const counted =
    (
      await connection.runAndReadAll(`SELECT count(*)::DOUBLE, count(time)::DOUBLE FROM ${source} WHERE ${times}`)
    ).getRows()[0] ?? [];
  const [count = 0, timed = 0] = counted.map(numberCell);
  if (count !== timed) return undefined;
  if (request.limit <= 0 || count === 0) return { count, first: [] };
  const places = await candidates(connection, source, times, request);
  if (places === undefined) return undefined;
  return { count, first: firstOf(await withIds(connection, index, places), request) };
}

function findListed(index: SearchedIndex, list: readonly FoundRow[], request: LeaseRequest): Matches | undefined {
  const { from, to } = request;
  if (from === undefined && to === undefined && list.some(({ time }) => time === null)) return undefined;
  const within = list.filter(
    ({ time }) => time !== null && (from === undefined || time >= from) && (to === undefined || time < to),
  );
  return {
    count: within.length,
    first:
      request.limit <= 0
        ? []
        : firstOf(
            within.map(({ row, time, id }) => ({ index, row, number: time, text: null, id })),
            request,
          ),
  };
}

function firstOf(found: Found[], { after, direction, limit }: LeaseRequest): Found[] {
  const left = after === undefined ? found : found.filter((one) => isAfter(one, after, direction));
  return left.sort(compareFound(direction)).slice(0, limit);
}

type Place = readonly [row: number, time: number];

/** The first so many and all of the last one's time; with a place to go on from, all of its time too. */
async function candidates(
  connection: DuckDBConnection,
  source: string,
  times: string,
  { limit, after, direction }: LeaseRequest,
): Promise<readonly Place[] | undefined> {
  const value = after === undefined ? undefined : after.sortValue === null ? NaN : (readTime(after.sortValue) ?? NaN);
  if (Number.isNaN(value)) return [];
  const [beyond, edge, none] =
    direction === 'asc' ? ['>', 'max', `'infinity'::DOUBLE`] : ['<', 'min', `'-infinity'::DOUBLE`];
  const [strictly, from] =
    value === undefined
      ? ['true', 'true']
      : [`time ${beyond} ${numberSql(value)}`, `time ${beyond}= ${numberSql(value)}`];
  const last = `SELECT ${edge}(time) FROM (SELECT time FROM ${source} WHERE ${times} AND ${strictly} ORDER BY time ${direction} LIMIT ${Math.floor(limit)})`;
  const upTo = `${direction === 'asc' ? '<=' : '>='} coalesce((${last}), ${none})`;
  const most = limit + maxTies;
  const rows = (
    await connection.runAndReadAll(
      `SELECT place::DOUBLE, time FROM ${source} WHERE ${times} AND ${from} AND time ${upTo} LIMIT ${most + 1}`,
    )
  ).getRows();
  return rows.length > most ? undefined : rows.map(([row, time]) => [numberCell(row), numberCell(time)]);
}

async function withIds(connection: DuckDBConnection, index: SearchedIndex, places: readonly Place[]): Promise<Found[]> {
  if (places.length === 0) return [];
  const rows = places.map(([row]) => row);
  const bounds = `rowid >= ${rows.reduce((least, row) => Math.min(least, row))} AND rowid <= ${rows.reduce((most, row) => Math.max(most, row))}`;
  const result = await connection.runAndReadAll(
    `SELECT rowid::DOUBLE, _id FROM ${index.file.alias}.documents WHERE rowid IN (${rows.join(', ')}) AND ${bounds}`,
  );
  const ids = new Map(result.getRows().map(([row, id]) => [numberCell(row), textCell(id)]));
  return places.flatMap(([row, number]) => {
    const id = ids.get(row);
    return id === undefined ? [] : [{ index, row, number, text: null, id }];
  });
}

function isAfter({ number, id, index }: Found, after: SearchAfter, direction: 'asc' | 'desc'): boolean {
  const place = { sortValue: after.sortValue === null ? null : (readTime(after.sortValue) ?? null), id: after.id };
  const order = comparePositions(direction)({ sortValue: number, id }, place);
  return order === 0 && after.index !== undefined
    ? comparePositions(direction)({ sortValue: number, id, index: index.name }, { ...place, index: after.index }) > 0
    : order > 0;
}
