/** Makes the words of some rows of an index file, read back from it, ready to be put into its table of words. */
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { setImmediate as turn } from 'node:timers/promises';
import { timeColumn } from '../sql/condition-sql.js';
import { appendWords, maxWordRows } from '../write/chunks.js';
import type { IndexFile } from '../files/index-file.js';
import { noTimes, widened } from '../files/time-span.js';
import { maxTextLength, SegmentBuilder, wordFields, type Texts } from './segment-builder.js';
import type { RowRange, WordSegment } from './segments.js';
import { wordHash } from './word-hash.js';

/**
 * Rows of one statement; fewer where texts are long. They are cut into words a chunk of the engine at a time, some
 * milliseconds, with turns for the others in between.
 */
const firstPageRows = 512;
const mostPageRows = 8_192;
const pageCharacters = 4 * 2 ** 20;
const hashBytes = 4;

interface SegmentPlan {
  readonly range: RowRange;
  /** Table in the engine's memory, to be created. */
  readonly table: string;
  readonly maxPostings: number;
  /** Throws where it should not. */
  readonly assertGoesOn: () => void;
}

interface BuiltSegment {
  readonly segment: WordSegment;
  /** Table in the engine's memory; to be dropped. */
  readonly table: string;
}

/** The rows must have been committed. With many words it ends before the range does. */
export async function buildSegment(
  connection: DuckDBConnection,
  file: IndexFile,
  { range: { firstRow, endRow }, table, maxPostings, assertGoesOn }: SegmentPlan,
): Promise<BuiltSegment> {
  const builder = new SegmentBuilder(maxPostings);
  // One character beyond the limit is enough to see that a text is too long.
  const texts = wordFields.map((name) => `left(c${file.fields.get(name)?.slot ?? 0}, ${maxTextLength + 1})`);
  let times = noTimes;
  let next = firstRow;
  let pageRows = firstPageRows;
  while (next < endRow && !builder.isFull) {
    const end = Math.min(endRow, next + pageRows);
    const result = await connection.run(
      `SELECT rowid::DOUBLE, ${timeColumn(file.fields)}, ${texts.join(', ')} FROM ${file.alias}.documents WHERE rowid >= ${next} AND rowid < ${end} ORDER BY rowid`,
    );
    const before = builder.characters;
    for (const chunk of await result.fetchAllChunks()) {
      assertGoesOn();
      const added = addChunk(builder, chunk, firstRow);
      next += added.length;
      times = widened(times, added);
      await turn();
    }
    pageRows = Math.max(
      1,
      Math.min(mostPageRows, Math.floor((pageRows * pageCharacters) / Math.max(1, builder.characters - before))),
    );
  }
  const bytes = await writeWords(connection, builder, table, assertGoesOn);
  return {
    table,
    segment: { firstRow, endRow: next, times, exceptions: builder.exceptions.map((row) => firstRow + row), bytes },
  };
}

/** Returns the times of the rows that were added: those after the one that made it full are not. */
function addChunk(builder: SegmentBuilder, chunk: DuckDBDataChunk, firstRow: number): readonly unknown[] {
  const [rows = [], times = [], ...texts] = chunk.getColumns() as unknown as [
    readonly number[],
    readonly unknown[],
    ...Texts[],
  ];
  let added = 0;
  for (; added < rows.length && !builder.isFull; added += 1)
    builder.add(
      (rows[added] ?? 0) - firstRow,
      texts.map((column) => column[added] ?? null),
    );
  return times.slice(0, added);
}

/**
 * Returns about how many bytes they take in an index file: the engine's compression and its blocks make up for each
 * other, to within a third.
 */
async function writeWords(
  connection: DuckDBConnection,
  builder: SegmentBuilder,
  table: string,
  assertGoesOn: () => void,
): Promise<number> {
  let size = 0;
  await connection.run(`CREATE TABLE memory.main.${table} (hash INTEGER, word VARCHAR, postings BLOB)`);
  const appender = await connection.createAppender(table, 'main', 'memory');
  try {
    for (const { words, postings } of builder.parts(maxWordRows)) {
      assertGoesOn();
      appendWords(appender, { hashes: words.map(wordHash), words, postings });
      size += words.reduce((sum, word) => sum + Buffer.byteLength(word) + hashBytes, 0) + postings.bytes.length;
      await turn();
    }
  } finally {
    appender.closeSync();
  }
  return size;
}
