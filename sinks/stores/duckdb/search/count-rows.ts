/**
 * Rows of a span of time, from what is counted by time and, where the span cuts a stretch in two, from a look at that
 * stretch.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { conditionSql, type Condition } from '../sql/condition-sql.js';
import type { FieldTable } from '../files/fields.js';
import type { TimeCounts } from '../retained/time-counts.js';
import { SqlParameters } from '../sql/value-sql.js';
import { numberCell } from '../sql/cells.js';

interface CountedFile {
  readonly alias: string;
  readonly fields: FieldTable;
}

export async function countRows(
  connection: DuckDBConnection,
  file: CountedFile,
  request: Condition,
  counts: TimeCounts,
): Promise<number> {
  let rows = request.from === undefined && request.to === undefined ? counts.untimed : 0;
  for (const [, part] of counts.wholes(request)) rows += part;
  for (const [, part] of await countParts(connection, file, request, counts)) rows += part;
  return rows;
}

/** What was counted last: a chart and the list beside it ask for the same range of time. */
const counted = new WeakMap<TimeCounts, { readonly range: string; readonly parts: Parts }>();
type Parts = readonly (readonly [from: number, rows: number])[];

/** By the time that the part begins at. */
export async function countParts(
  connection: DuckDBConnection,
  file: CountedFile,
  request: Condition,
  counts: TimeCounts,
): Promise<Parts> {
  const range = `${request.from} ${request.to}`;
  const before = counted.get(counts);
  if (before?.range === range) return before.parts;
  const parts: (readonly [number, number])[] = [];
  for (const part of counts.parts(request)) {
    const parameters = new SqlParameters();
    const condition = conditionSql(file.fields, { query: request.query, ...part }, parameters);
    const { sql, values } = parameters.statement(
      `SELECT count(*)::DOUBLE FROM ${file.alias}.documents WHERE ${condition} AND rowid < ${counts.covered}`,
    );
    const result = await connection.runAndReadAll(sql, values);
    parts.push([part.from ?? 0, numberCell(result.getRows()[0]?.[0])]);
  }
  counted.set(counts, { range, parts });
  return parts;
}
