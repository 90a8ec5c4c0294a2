/** The first rows of one index file in the order of a search. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchAfter, SearchRequest } from '../../../../schemas/query.js';
import type { TimeCounts } from '../retained/time-counts.js';
import { conditionSql, type Condition } from '../sql/condition-sql.js';
import { afterSql, boundSql, orderSql, sortColumns, type SortColumns } from '../sql/sort-sql.js';
import { readTime } from '../sql/times.js';
import { SqlParameters } from '../sql/value-sql.js';
import type { Found, SearchedIndex } from './found.js';
import { numberCell, numberCellOrNull, textCell, textCellOrNull } from '../sql/cells.js';

type SortOrder = NonNullable<SearchRequest['sort']>;

export const newestFirst: SortOrder = { field: 'timestamp', direction: 'desc' };

/** A search whose order is decided. */
export interface OrderedSearch extends Condition {
  readonly limit: number;
  readonly after?: SearchAfter | undefined;
  readonly sort: SortOrder;
}

export function positionOf(last: Found, sort: SortOrder): SearchAfter {
  return {
    sortValue: sort.field === '_id' ? last.id : (last.number ?? last.text),
    id: last.id,
    index: last.index.name,
  };
}

/**
 * The first ones, by time in no more of the file than holds them. `rows`: of so many first rows of the file; more may
 * have been counted.
 */
export async function findNearest(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: OrderedSearch,
  { counts, rows }: { readonly counts: TimeCounts; readonly rows: number },
): Promise<Found[]> {
  const remaining = remainingTime(request);
  if (remaining === undefined) return findFirst(connection, index, request, rows);
  for (let wanted = request.limit; ; wanted *= 8) {
    const span = counts.nearest(remaining, request.sort.direction, wanted);
    const isAll = span.from === remaining.from && span.to === remaining.to;
    const found = await findFirst(connection, index, isAll ? request : { ...request, ...span }, rows);
    if (isAll || found.length >= request.limit) return found;
  }
}

/**
 * The span of time in which rows can follow the position that the request goes on from. Undefined: rows with a time
 * cannot, or the order is not by time.
 */
function remainingTime({
  from,
  to,
  after,
  sort: { field, direction },
}: OrderedSearch): Pick<OrderedSearch, 'from' | 'to'> | undefined {
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

export async function countMatches(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: Condition,
): Promise<number> {
  const parameters = new SqlParameters();
  const sql = `SELECT count(*)::DOUBLE FROM ${index.file.alias}.documents WHERE ${conditionSql(index.file.fields, request, parameters)}`;
  const rows = await runSql(connection, sql, parameters);
  return numberCell(rows.getRows()[0]?.[0]);
}

/** With `rows`: of the first so many rows of the file only. */
export async function findFirst(
  connection: DuckDBConnection,
  index: SearchedIndex,
  request: OrderedSearch,
  rows?: number,
): Promise<Found[]> {
  const { sort } = request;
  const parameters = new SqlParameters();
  const condition = conditionSql(index.file.fields, request, parameters);
  const columns: SortColumns = sortColumns(index.file.fields, sort.field, parameters);
  const after = request.after === undefined ? '' : ` WHERE ${afterSql(sort, request.after, index.name, parameters)}`;
  const sql =
    `SELECT row_number, sort_number, sort_text, _id FROM (SELECT rowid::DOUBLE AS row_number, ${columns.number} AS sort_number,` +
    ` ${columns.text} AS sort_text, _id FROM ${index.file.alias}.documents WHERE ${condition}${boundSql(index.file.fields, sort, request.after)}${rows === undefined ? '' : ` AND rowid < ${rows}`})${after} ORDER BY ${orderSql(sort.direction, columns)} LIMIT ${Math.floor(request.limit)}`;
  const result = await runSql(connection, sql, parameters);
  return result.getRows().map(([row, number, text, id]) => ({
    index,
    row: numberCell(row),
    number: numberCellOrNull(number),
    text: textCellOrNull(text),
    id: textCell(id),
  }));
}
