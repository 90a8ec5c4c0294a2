/** Rows whose words pass a test, from the table of words; without rows whose words are not known. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { SqlParameters } from '../sql/value-sql.js';
import { eachRow } from './postings.js';
import { RowSet } from './row-set.js';
import type { WordSegment } from './segments.js';
import { wordHash } from './word-hash.js';
import type { WordPattern, WordTest } from './word-query.js';
import { numberCell, textCell } from '../sql/cells.js';

/** Segments of one statement. */
const segmentsAtOnce = 32;
/** Words and bytes that one statement may find; beyond, looking at the texts themselves costs no more. */
const maxWords = 20_000;
const maxBytes = 32 * 2 ** 20;

interface FoundWords {
  readonly byWord: Map<string, Uint8Array>;
  readonly byPattern: Map<WordPattern, Uint8Array[]>;
}

/** Ascending; undefined: more than `most`, or too many words. */
export async function findWordRows(
  connection: DuckDBConnection,
  { alias, segments }: { readonly alias: string; readonly segments: readonly WordSegment[] },
  test: WordTest,
  most: number,
): Promise<number[] | undefined> {
  const wanted = collect(test, { words: new Set<string>(), patterns: new Set<WordPattern>() });
  const rows: number[] = [];
  for (let from = 0; from < segments.length; from += segmentsAtOnce) {
    const some = segments.slice(from, from + segmentsAtOnce);
    const found = await lookUp(connection, alias, wanted, some);
    if (found === undefined) return undefined;
    for (const segment of some) {
      const set = evaluate(test, found.get(segment.firstRow) ?? nothingFound(), segment.endRow - segment.firstRow);
      for (const row of segment.exceptions) set.remove(row - segment.firstRow);
      set.appendTo(rows, segment.firstRow);
      if (rows.length > most) return undefined;
    }
  }
  return rows;
}

interface Wanted {
  readonly words: Set<string>;
  readonly patterns: Set<WordPattern>;
}

function collect(test: WordTest, wanted: Wanted): Wanted {
  if (test.kind === 'word') wanted.words.add(test.word);
  else if (test.kind === 'pattern') wanted.patterns.add(test.pattern);
  else for (const child of test.kind === 'not' ? [test.child] : test.children) collect(child, wanted);
  return wanted;
}

function nothingFound(): FoundWords {
  return { byWord: new Map(), byPattern: new Map() };
}

/** By first row of the segment. */
async function lookUp(
  connection: DuckDBConnection,
  alias: string,
  { words, patterns }: Wanted,
  segments: readonly WordSegment[],
): Promise<Map<number, FoundWords> | undefined> {
  const found = new Map(segments.map(({ firstRow }) => [firstRow, nothingFound()]));
  const [least, most] = [segments[0]?.firstRow ?? 0, segments.at(-1)?.firstRow ?? 0];
  let bytes = 0;
  const ask = async (
    condition: (parameters: SqlParameters) => string,
    take: (found: FoundWords, word: string, postings: Uint8Array) => void,
  ): Promise<boolean> => {
    const parameters = new SqlParameters();
    const statement = parameters.statement(
      `SELECT segment, word, postings FROM ${alias}.words WHERE segment >= ${least} AND segment <= ${most} AND ${condition(parameters)} LIMIT ${maxWords + 1}`,
    );
    const rows = (await connection.runAndReadAll(statement.sql, statement.values)).getRows();
    for (const [segment, word, blob] of rows) {
      const { bytes: postings } = blob as unknown as { readonly bytes: Uint8Array };
      bytes += postings.length;
      const into = found.get(numberCell(segment));
      if (into !== undefined) take(into, textCell(word), postings);
    }
    return rows.length <= maxWords && bytes <= maxBytes;
  };
  for (const word of words)
    if (
      !(await ask(
        (parameters) => `hash = ${wordHash(word)} AND word = ${parameters.text(word)}`,
        ({ byWord }, key, postings) => byWord.set(key, postings),
      ))
    )
      return undefined;
  for (const pattern of patterns) {
    for (const { byPattern } of found.values()) byPattern.set(pattern, []);
    if (
      !(await ask(
        (parameters) => patternSql(pattern, parameters),
        ({ byPattern }, _, postings) => byPattern.get(pattern)?.push(postings),
      ))
    )
      return undefined;
  }
  return found;
}

function patternSql({ expression, prefix, literal }: WordPattern, parameters: SqlParameters): string {
  const conditions = prefix === '' ? [] : [`starts_with(word, ${parameters.text(prefix)})`];
  if (literal !== '' && literal !== prefix) conditions.push(`contains(word, ${parameters.text(literal)})`);
  if (expression !== undefined) conditions.push(`regexp_full_match(word, ${parameters.text(expression)})`);
  return conditions.join(' AND ') || 'true';
}

function evaluate(test: WordTest, found: FoundWords, rows: number): RowSet {
  const set = new RowSet(rows);
  switch (test.kind) {
    case 'and':
      set.invert();
      for (const child of test.children) set.intersect(evaluate(child, found, rows));
      break;
    case 'or':
      for (const child of test.children) set.unite(evaluate(child, found, rows));
      break;
    case 'not':
      set.unite(evaluate(test.child, found, rows));
      set.invert();
      break;
    case 'word':
      addRows(set, found.byWord.get(test.word), test.field);
      break;
    case 'pattern':
      for (const postings of found.byPattern.get(test.pattern) ?? []) addRows(set, postings, test.field);
  }
  return set;
}

function addRows(set: RowSet, postings: Uint8Array | undefined, fields: number): void {
  if (postings !== undefined) eachRow(postings, fields, (row) => set.add(row));
}
