/** Which rows of an index file have their words in its table of words: segments of rows, each with words of its own. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { mayMatch, type TimeRange, type TimeSpan } from '../files/time-span.js';
import { numberCell, numberCellOrNull, textCell } from '../sql/cells.js';

export interface WordSegment {
  /** Rows of the file. */
  readonly firstRow: number;
  readonly endRow: number;
  /** Times of rows that have a timestamp. */
  readonly times: TimeSpan;
  /** Rows of the file whose words are not known. */
  readonly exceptions: readonly number[];
  /** What its words take in the file, about. */
  readonly bytes: number;
}

/** Assumed for ordinary texts while no segment is known. */
const unknownBytesOfRow = 40;

export interface RowRange {
  readonly firstRow: number;
  readonly endRow: number;
}

export async function loadSegments(connection: DuckDBConnection, alias: string): Promise<WordSegment[]> {
  const known = await connection.runAndReadAll(
    `SELECT 1 FROM duckdb_tables() WHERE database_name = '${alias}' AND table_name = 'word_segments'`,
  );
  if (known.currentRowCount === 0) return [];
  const rows = (
    await connection.runAndReadAll(
      `SELECT first_row, end_row, least_time, most_time, exceptions, bytes FROM ${alias}.word_segments ORDER BY first_row`,
    )
  ).getRows();
  return rows.map(([firstRow, endRow, least, most, exceptions, bytes]) => ({
    firstRow: numberCell(firstRow),
    endRow: numberCell(endRow),
    times: { least: numberCellOrNull(least) ?? Infinity, most: numberCellOrNull(most) ?? -Infinity },
    exceptions: JSON.parse(textCell(exceptions)) as number[],
    bytes: numberCell(bytes),
  }));
}

/** In the connection's transaction: `source` has the columns of the table of words but the segment. */
export async function insertSegment(
  connection: DuckDBConnection,
  alias: string,
  { firstRow, endRow, times, exceptions, bytes }: WordSegment,
  source: string,
): Promise<void> {
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${alias}.word_segments (first_row DOUBLE, end_row DOUBLE, least_time DOUBLE, most_time DOUBLE, exceptions VARCHAR, bytes DOUBLE)`,
  );
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${alias}.words (segment INTEGER, hash INTEGER, word VARCHAR, postings BLOB USING COMPRESSION zstd)`,
  );
  // In order, so that the engine passes by the parts of a segment where a word cannot be; by hash, since telling
  // numbers apart takes a third of the time.
  await connection.run(
    `INSERT INTO ${alias}.words SELECT ${firstRow}, hash, word, postings FROM ${source} ORDER BY hash`,
  );
  const [least, most] = [times.least, times.most].map((time) => (Number.isFinite(time) ? String(time) : 'NULL'));
  await connection.run(
    `INSERT INTO ${alias}.word_segments VALUES (${firstRow}, ${endRow}, ${least}, ${most}, $1, ${bytes})`,
    [JSON.stringify(exceptions)],
  );
}

/** In the connection's transaction: the rows have changed. */
export async function forgetSegments(connection: DuckDBConnection, alias: string): Promise<void> {
  await connection.run(`DELETE FROM ${alias}.word_segments`);
  await connection.run(`DELETE FROM ${alias}.words`);
}

/**
 * What the words of a file's rows that no segment covers will take, about: as much as those of its other rows, or as
 * those of `example`, a segment of another file.
 */
export function pendingBytes(segments: readonly WordSegment[], rows: number, example: WordSegment | undefined): number {
  let known = 0;
  let bytes = 0;
  for (const segment of segments) {
    known += segment.endRow - segment.firstRow;
    bytes += segment.bytes;
  }
  if (known >= rows) return 0;
  const bytesOfRow =
    known > 0
      ? bytes / known
      : example === undefined
        ? unknownBytesOfRow
        : example.bytes / (example.endRow - example.firstRow);
  return Math.round((rows - known) * bytesOfRow);
}

/** The parts of the range that no segment covers. `segments`: ascending. */
export function uncovered(segments: readonly WordSegment[], { firstRow, endRow }: RowRange): RowRange[] {
  const left: RowRange[] = [];
  let from = firstRow;
  for (const segment of segments) {
    if (segment.endRow <= from || segment.firstRow >= endRow) continue;
    if (segment.firstRow > from) left.push({ firstRow: from, endRow: segment.firstRow });
    from = segment.endRow;
  }
  if (from < endRow) left.push({ firstRow: from, endRow });
  return left;
}

/** Those in which rows of the range of time can be. A row without a timestamp matches no range. */
export function segmentsOf(
  segments: readonly WordSegment[],
  { firstRow, endRow }: RowRange,
  range: TimeRange,
): WordSegment[] {
  return segments.filter(
    (segment) => segment.endRow > firstRow && segment.firstRow < endRow && mayMatch(segment.times, range),
  );
}
