/** Makes the words of some rows of an index file, read back from it, ready to be put into its table of words. */
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { setImmediate as turn } from 'node:timers/promises';
import { timeColumn } from '../condition-sql.js';
import { appendWords, maxWordRows } from '../chunks.js';
import type { IndexFile } from '../index-file.js';
import { noTimes, widened } from '../time-span.js';
import { SegmentBuilder, wordFields, type Texts } from './segment-builder.js';
import type { RowRange, WordSegment } from './segments.js';
import { wordHash } from './word-hash.js';

/** Rows of one statement. They are cut into words so many at a time that it takes some milliseconds, with turns for the others in between. */
const pageRows = 8_192;

export interface BuiltSegment {
  readonly segment: WordSegment;
  /** Of the engine's memory; to be dropped. */
  readonly table: string;
}

/** The rows must have been committed. With many words it ends before the range does. `assertGoesOn` throws where it should not. */
export async function buildSegment(connection: DuckDBConnection, file: IndexFile, { firstRow, endRow }: RowRange, table: string, assertGoesOn: () => void): Promise<BuiltSegment> {
  const builder = new SegmentBuilder();
  const columns = ['rowid::DOUBLE', timeColumn(file.fields), ...wordFields.map((name) => `c${file.fields.get(name)?.slot ?? 0}`)];
  let times = noTimes;
  let next = firstRow;
  while (next < endRow && !builder.isFull) {
    const end = Math.min(endRow, next + pageRows);
    const result = await connection.run(`SELECT ${columns.join(', ')} FROM ${file.alias}.documents WHERE rowid >= ${next} AND rowid < ${end} ORDER BY rowid`);
    for (const chunk of await result.fetchAllChunks()) {
      assertGoesOn();
      times = widened(times, addChunk(builder, chunk, firstRow));
      await turn();
    }
    next = end;
  }
  await writeWords(connection, builder, table, assertGoesOn);
  return { table, segment: { firstRow, endRow: next, times, exceptions: builder.exceptions.map((row) => firstRow + row) } };
}

/** Returns the times of its rows. */
function addChunk(builder: SegmentBuilder, chunk: DuckDBDataChunk, firstRow: number): readonly unknown[] {
  const [rows, times, ...texts] = chunk.getColumns() as unknown as [readonly number[], readonly unknown[], ...Texts[]];
  for (const [at, row] of rows.entries()) builder.add(row - firstRow, texts.map((column) => column[at] ?? null));
  return times;
}

async function writeWords(connection: DuckDBConnection, builder: SegmentBuilder, table: string, assertGoesOn: () => void): Promise<void> {
  await connection.run(`CREATE TABLE memory.main.${table} (hash INTEGER, word VARCHAR, postings BLOB)`);
  const appender = await connection.createAppender(table, 'main', 'memory');
  try {
    for (const { words, postings } of builder.parts(maxWordRows)) {
      assertGoesOn();
      appendWords(appender, { hashes: words.map(wordHash), words, postings });
      await turn();
    }
  } finally {
    appender.closeSync();
  }
}
