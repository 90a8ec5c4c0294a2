/** Rows of an index file that match, where the table of words tells which can. */
import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api';
import { INTEGER } from '@duckdb/node-api';
import type { QueryNode } from '../../../../schemas/query.js';
import { appendChunks } from '../write/chunks.js';
import { readsTexts, timeColumn, timesSql } from '../sql/condition-sql.js';
import { findFew, rowsSql, type FoundRow, type LookedAt } from '../retained/find-few.js';
import { querySql } from '../sql/query-sql.js';
import { SqlParameters } from '../sql/value-sql.js';
import { segmentsOf, type WordSegment } from './segments.js';
import { splitQuery } from './word-query.js';
import { findWordRows } from './word-rows.js';
import { numberCell, numberCellOrNull, textCell } from '../sql/cells.js';

/** Fewer rows than these are looked through as fast. */
const fewRows = 16_384;
/** More rows than these go over in a table. */
const mostInStatement = 1_000;

/** Rows that may match: those of `rows` do if they pass `rest`, those of `unknown` if they pass `query`. */
export interface Candidates {
  readonly rows: readonly number[];
  readonly rest: QueryNode;
  readonly unknown: readonly number[];
  readonly query: QueryNode;
}

/** `covered`: every row of the part is in one of these segments. Undefined: the texts have to be looked at. */
export async function findByWords(
  connection: DuckDBConnection,
  part: LookedAt,
  covered: readonly WordSegment[],
  { query, most }: { readonly query: QueryNode; readonly most: number },
): Promise<Candidates | undefined> {
  const { firstRow, endRow } = part;
  if (endRow - firstRow < Math.min(fewRows, (covered[0]?.endRow ?? 0) - (covered[0]?.firstRow ?? 0))) return undefined;
  const split = splitQuery(query, part.fields);
  if (split === undefined) return undefined;
  const segments = segmentsOf(covered, part, part);
  const rows = await findWordRows(connection, { alias: part.alias, segments }, split.words, most);
  if (rows === undefined) return undefined;
  const within = (row: number): boolean => row >= firstRow && row < endRow;
  return {
    rows: rows.filter(within),
    rest: { kind: 'and', children: split.rest },
    unknown: segments.flatMap(({ exceptions }) => exceptions).filter(within),
    query,
  };
}

/** The candidates that match. */
export async function listCandidates(
  connection: DuckDBConnection,
  part: LookedAt,
  { rows, rest, unknown, query }: Candidates,
): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  for (const [some, condition] of [
    [rows, rest],
    [unknown, query],
  ] as const) {
    if (some.length === 0) continue;
    const few = readsTexts(condition)
      ? await findFew(connection, part, condition, { most: some.length, rows: some })
      : undefined;
    if (few !== undefined) {
      found.push(...few);
      continue;
    }
    const result = await selectRows(connection, part, { rows: some, condition }, (select) =>
      connection.runAndReadAll(...select(['rowid::DOUBLE', timeColumn(part.fields), '_id'])),
    );
    for (const [row, time, id] of result.getRows())
      found.push({ row: numberCell(row), time: numberCellOrNull(time), id: textCell(id) });
  }
  return found;
}

/** Into the table, with columns `place` and `time`. Returns how many. */
export async function insertCandidates(
  connection: DuckDBConnection,
  table: string,
  part: LookedAt,
  { rows, rest, unknown, query }: Candidates,
): Promise<number> {
  let inserted = 0;
  for (const [some, condition] of [
    [rows, rest],
    [unknown, query],
  ] as const) {
    if (some.length === 0) continue;
    const result = await selectRows(connection, part, { rows: some, condition }, (select) => {
      const [sql, values] = select(['rowid', timeColumn(part.fields)]);
      return connection.run(`INSERT INTO ${table} ${sql}`, values);
    });
    inserted += result.rowsChanged;
  }
  return inserted;
}

type Select = (columns: readonly string[]) => [sql: string, values: string[]];

async function selectRows<Result>(
  connection: DuckDBConnection,
  part: LookedAt,
  { rows, condition }: { readonly rows: readonly number[]; readonly condition: QueryNode },
  run: (select: Select) => Promise<Result>,
): Promise<Result> {
  const select =
    (source: string | undefined): Select =>
    (columns) => {
      const parameters = new SqlParameters();
      const conditions = [
        ...rowsSql(rows, source),
        ...timesSql(timeColumn(part.fields), part),
        querySql(condition, { fields: part.fields, parameters }),
      ];
      const { sql, values } = parameters.statement(
        `SELECT ${columns.join(', ')} FROM ${part.alias}.documents WHERE ${conditions.join(' AND ')}`,
      );
      return [sql, values];
    };
  if (rows.length <= mostInStatement) return run(select(undefined));
  await connection.run('CREATE OR REPLACE TEMP TABLE candidates (place INTEGER)');
  await append(await connection.createAppender('candidates', 'main', 'temp'), rows);
  return run(select('SELECT place FROM candidates'));
}

async function append(appender: DuckDBAppender, rows: readonly number[]): Promise<void> {
  try {
    appendChunks(appender, [INTEGER], [rows]);
  } finally {
    appender.closeSync();
  }
}
