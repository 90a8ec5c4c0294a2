/**
 * Counts by time of conditions that most rows pass, so that keeping the rows themselves would not pay. They come with
 * the first look; a count, a chart, a page, and the same question a few seconds later look only at rows that came
 * since.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { timeColumn, timesSql, type Condition } from '../sql/condition-sql.js';
import type { FieldTable } from '../files/fields.js';
import { RetainedItem, RetainedItems, type Span } from './retained-items.js';
import { querySql } from '../sql/query-sql.js';
import { TimeCounts } from './time-counts.js';
import { SqlParameters } from '../sql/value-sql.js';

/** Stretches of time of one condition; more are not kept, and its rows are counted anew each time. */
const maxStarts = 50_000;
const startBytes = 16;
const hour = 3_600_000;
/** Ranges up to this long are kept by the second, longer ones by the minute. */
const longestBySecond = 6 * hour;

/** What is needed of an attached index file. */
interface CountedFile {
  readonly alias: string;
  readonly fields: FieldTable;
  readonly documents: number;
  readonly changes: number;
}

class Counts extends RetainedItem {
  counts: TimeCounts | undefined;

  constructor(span: Span, width: number) {
    super(span);
    this.counts = TimeCounts.empty(width);
  }
}

export class RetainedCounts {
  readonly #items: RetainedItems<Counts>;

  constructor(maxBytes: number) {
    this.#items = new RetainedItems(maxBytes);
  }

  /** Undefined: the times of the rows lie too far apart. */
  async find(
    connection: DuckDBConnection,
    file: CountedFile,
    { query, from, to }: Condition,
  ): Promise<TimeCounts | undefined> {
    const width = from !== undefined && (to ?? Date.now()) - from <= longestBySecond ? 1_000 : 60_000;
    const parameters = new SqlParameters();
    const { sql, values } = parameters.statement(querySql(query, { fields: file.fields, parameters }));
    const key = JSON.stringify([file.alias, file.changes, width, sql, values]);
    const item = this.#items.find(
      key,
      { from, to },
      (span) => new Counts(span, width),
      (known) => !isOutgrown(known, from),
    );
    const filled = item.fill(() => fill(connection, file, item, { sql, values }));
    this.sweep();
    return filled;
  }

  sweep(): void {
    for (const counts of this.#items.sweep()) this.#items.gone(counts);
  }

  get bytes(): number {
    return this.#items.bytes;
  }
}

/** Most of it lies before the range that is asked for now. */
function isOutgrown({ span, counts }: Counts, from: number | undefined): boolean {
  return (
    span.from !== undefined &&
    from !== undefined &&
    from - span.from > longestBySecond &&
    (counts?.starts.length ?? 0) > maxStarts / 2
  );
}

/** Looks at the rows that came since. When it rejects, nothing was added. */
async function fill(
  connection: DuckDBConnection,
  file: CountedFile,
  item: Counts,
  condition: { readonly sql: string; readonly values: string[] },
): Promise<TimeCounts | undefined> {
  const { counts } = item;
  const rows = file.documents;
  if (counts === undefined || counts.covered >= rows) return counts;
  const time = timeColumn(file.fields);
  const where = [
    ...(counts.covered === 0 ? [] : [`rowid >= ${counts.covered}`]),
    `rowid < ${rows}`,
    ...timesSql(time, item.span),
    condition.sql,
  ].join(' AND ');
  const sql = `SELECT floor(${time} / ${counts.width}) * ${counts.width} AS start, count(*)::DOUBLE FROM ${file.alias}.documents WHERE ${where} GROUP BY start ORDER BY start NULLS FIRST LIMIT ${maxStarts + 1}`;
  const found = (await connection.runAndReadAll(sql, condition.values)).getRows() as unknown as (readonly [
    number | null,
    number,
  ])[];
  const untimed = found[0]?.[0] === null ? found[0][1] : 0;
  const timed = found.filter((row): row is readonly [number, number] => row[0] !== null);
  item.counts =
    found.length > maxStarts || counts.starts.length + timed.length > 2 * maxStarts
      ? undefined
      : counts.with(rows, untimed, timed);
  item.bytes = (item.counts?.starts.length ?? 0) * startBytes;
  return item.counts;
}
