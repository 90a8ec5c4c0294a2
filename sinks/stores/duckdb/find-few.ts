/**
 * Finds rows that match where they are likely few. The engine makes an expression for words ready anew for each statement, file and thread (10 ms each): it
 * looks for the literal texts alone, and words are told apart here, of the rows that are left.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { QueryNode } from '../../../schemas/query.js';
import { timeColumn, timesSql, type Condition } from './condition-sql.js';
import type { FieldTable } from './fields.js';
import { querySql } from './query-sql.js';
import { SqlParameters } from './value-sql.js';
import { CheckedText, wordChecks } from './word-checks.js';

export interface FoundRow {
  readonly row: number;
  /** Of `timestamp`, milliseconds since the epoch; null: it has none. */
  readonly time: number | null;
  readonly id: string;
}

export interface LookedAt extends Pick<Condition, 'from' | 'to'> {
  readonly alias: string;
  readonly fields: FieldTable;
  /** Rows of the file. */
  readonly firstRow: number;
  readonly endRow: number;
  /** How many of them lie in the range of time, about. */
  readonly share: number;
}

/** Longer texts are left to the engine. */
const maxTextBytes = 16_384;
/** So many rows are looked through for literal texts before an expression is made ready that cannot be told here, which takes as long. */
const fewRows = 150_000;
/** Of more rows, those that match are not listed first: where they were too many for a list after all, each would be looked at twice. */
const mostRows = 600_000;

/** Undefined: more than `most` match, or may match. */
export async function findFew(connection: DuckDBConnection, part: LookedAt, query: QueryNode, most: number): Promise<FoundRow[] | undefined> {
  const checks = wordChecks(query, part.fields);
  const rows = (part.endRow - part.firstRow) * part.share;
  if (checks === undefined && rows > mostRows) return undefined;
  if (checks === undefined && rows <= fewRows && (await hasNoLiterals(connection, part, query))) return [];
  const texts = [...new Set((checks ?? []).flatMap(({ fields }) => fields))];
  const columns = texts.map((name) => `c${part.fields.get(name)?.slot ?? 0}`);
  const bytes = columns.map((column) => `coalesce(strlen(${column}), 0)`).join(' + ') || '0';
  const cells = ['rowid::DOUBLE', timeColumn(part.fields), '_id', `${bytes} > ${maxTextBytes}`, ...columns.map((column) => `CASE WHEN ${bytes} <= ${maxTextBytes} THEN ${column} END`)];
  const candidates = await select(connection, cells.join(', '), part, query, checks !== undefined, most + 1);
  if (candidates.length > most || candidates.some(([, , , isLong]) => isLong)) return undefined;
  const found: FoundRow[] = [];
  for (const [row, time, id, , ...values] of candidates) {
    const cells = new Map(texts.map((name, at) => [name, new CheckedText(values[at] as string | null)]));
    if (checks?.every(({ passes }) => passes(cells)) ?? true) found.push({ row: row as number, time: time as number | null, id: id as string });
  }
  return found;
}

async function hasNoLiterals(connection: DuckDBConnection, part: LookedAt, query: QueryNode): Promise<boolean> {
  if (conditionOf(part.fields, query, true).sql === conditionOf(part.fields, query, false).sql) return false;
  return (await select(connection, '1', part, query, true, 1)).length === 0;
}

function conditionOf(fields: FieldTable, query: QueryNode, literalsOnly: boolean): { readonly sql: string; readonly values: string[] } {
  const parameters = new SqlParameters();
  return parameters.statement(querySql(query, { fields, parameters, literalsOnly }));
}

async function select(connection: DuckDBConnection, cells: string, part: LookedAt, query: QueryNode, literalsOnly: boolean, limit: number): Promise<unknown[][]> {
  const { sql, values } = conditionOf(part.fields, query, literalsOnly);
  const within = [`rowid >= ${part.firstRow}`, `rowid < ${part.endRow}`, ...timesSql(timeColumn(part.fields), part), sql];
  const result = await connection.runAndReadAll(`SELECT ${cells} FROM ${part.alias}.documents WHERE ${within.join(' AND ')} LIMIT ${limit}`, values);
  return result.getRows();
}
