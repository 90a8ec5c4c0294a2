/**
 * Finds rows that contain words, where they are likely few. The engine makes an expression for words ready anew for
 * each statement, file and thread (10 ms each): it looks for the literal texts alone, and words are told apart here, of
 * the rows that are left.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { QueryNode } from '../../../../schemas/query.js';
import { timeColumn, timesSql, type Condition } from '../sql/condition-sql.js';
import type { FieldTable } from '../files/fields.js';
import { querySql } from '../sql/query-sql.js';
import { SqlParameters } from '../sql/value-sql.js';
import { CheckedText, wordChecks } from './word-checks.js';
import { numberCell, numberCellOrNull, textCell, textCellOrNull } from '../sql/cells.js';

export interface FoundRow {
  readonly row: number;
  /** The `timestamp`, milliseconds since the epoch; null: it has none. */
  readonly time: number | null;
  readonly id: string;
}

export interface LookedAt extends Pick<Condition, 'from' | 'to'> {
  readonly alias: string;
  readonly fields: FieldTable;
  /** Rows of the file. */
  readonly firstRow: number;
  readonly endRow: number;
}

/** The words of longer texts are left to the engine. */
const maxTextBytes = 4_096;

interface FewRows {
  /** More rows than these are not few. */
  readonly most: number;
  /** No others are looked at; undefined: all of the part. */
  readonly rows?: readonly number[];
}

/** Undefined: more than `most` match or may match, or words are not all that is asked for of the texts. */
export async function findFew(
  connection: DuckDBConnection,
  part: LookedAt,
  query: QueryNode,
  { most, rows }: FewRows,
): Promise<FoundRow[] | undefined> {
  const checks = wordChecks(query, part.fields) ?? [];
  if (checks.length === 0) return undefined;
  const texts = [...new Set(checks.flatMap(({ fields }) => fields))];
  const columns = texts.map((name) => `c${part.fields.get(name)?.slot ?? 0}`);
  const bytes = columns.map((column) => `coalesce(strlen(${column}), 0)`).join(' + ');
  const cells = [
    'rowid::DOUBLE',
    timeColumn(part.fields),
    '_id',
    `${bytes} > ${maxTextBytes}`,
    ...columns.map((column) => `CASE WHEN ${bytes} <= ${maxTextBytes} THEN ${column} END`),
  ];
  const candidates = await select(connection, part, query, {
    cells: cells.join(', '),
    limit: most + 1,
    literalsOnly: true,
    rows,
  });
  if (candidates.length > most) return undefined;
  const long = candidates.flatMap(([row, , , isLong]) => (isLong === true ? [numberCell(row)] : []));
  const longFound = new Set(
    long.length === 0
      ? []
      : (
          await select(connection, part, query, {
            cells: 'rowid::DOUBLE',
            limit: long.length,
            literalsOnly: false,
            rows: long,
          })
        ).map(([row]) => row),
  );
  return candidates.flatMap(([row, time, id, isLong, ...values]) => {
    const cells = new Map(texts.map((name, at) => [name, new CheckedText(textCellOrNull(values[at]))]));
    const passes = isLong === true ? longFound.has(row) : checks.every((check) => check.passes(cells));
    return passes ? [{ row: numberCell(row), time: numberCellOrNull(time), id: textCell(id) }] : [];
  });
}

/**
 * Whether there is no row for an expression that is needed after all, told by the literal texts of what it matches;
 * false also where it has none.
 */
export async function hasNoLiterals(connection: DuckDBConnection, part: LookedAt, query: QueryNode): Promise<boolean> {
  const [literals, whole] = [true, false].map((literalsOnly) =>
    querySql(query, { fields: part.fields, parameters: new SqlParameters(), literalsOnly }),
  );
  return (
    literals !== whole &&
    (await select(connection, part, query, { cells: '1', limit: 1, literalsOnly: true, rows: undefined })).length === 0
  );
}

interface Selected {
  /** Columns, as SQL. */
  readonly cells: string;
  readonly limit: number;
  readonly literalsOnly: boolean;
  /** No others; undefined: all of the part. */
  readonly rows: readonly number[] | undefined;
}

async function select(
  connection: DuckDBConnection,
  part: LookedAt,
  query: QueryNode,
  { cells, limit, literalsOnly, rows }: Selected,
): Promise<unknown[][]> {
  const parameters = new SqlParameters();
  const condition = querySql(query, { fields: part.fields, parameters, literalsOnly });
  const within = [
    ...(rows === undefined ? [`rowid >= ${part.firstRow}`, `rowid < ${part.endRow}`] : rowsSql(rows)),
    ...timesSql(timeColumn(part.fields), part),
    condition,
  ];
  const { sql, values } = parameters.statement(
    `SELECT ${cells} FROM ${part.alias}.documents WHERE ${within.join(' AND ')} LIMIT ${limit}`,
  );
  return (await connection.runAndReadAll(sql, values)).getRows();
}

/** The bounds let the engine pass most of the file by. */
export function rowsSql(rows: readonly number[], source = rows.join(', ')): string[] {
  return [
    `rowid >= ${rows.reduce((least, row) => Math.min(least, row))}`,
    `rowid <= ${rows.reduce((most, row) => Math.max(most, row))}`,
    `rowid IN (${source})`,
  ];
}
