/** Charts of nothing but counts by time, from what is counted by time already, or from lists of rows. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { maxBuckets, type AggregateRequest, type Bucket } from '../../../../schemas/query.js';
import { leafBuckets } from '../../buckets.js';
import { bucketWidth, defaultInterval, type BucketWidth } from '../sql/bucket-sql.js';
import { countParts } from '../search/count-rows.js';
import { storeError } from '../failures.js';
import type { SearchedIndex } from '../search/found.js';
import type { RetainedCounts } from '../retained/retained-counts.js';
import type { RowsLease } from '../retained/retained-rows.js';

type Charted = Pick<AggregateRequest, 'query' | 'from' | 'to' | 'groups' | 'metrics' | 'sort'>;

/** Nothing but the times of rows is asked for. */
export function timesOnly({ groups, metrics }: Pick<Charted, 'groups' | 'metrics'>): boolean {
  return (
    groups.every(({ kind, field }) => kind === 'time' && field === 'timestamp') &&
    metrics.every(({ field }) => field === undefined)
  );
}

interface Buckets {
  readonly whole: Bucket;
  readonly buckets: readonly Bucket[];
}

/**
 * For requests that pass `timesOnly`. Undefined: the retained counts are not fine enough, or the rows lie too far apart
 * in time.
 */
export async function timeBuckets(
  connection: DuckDBConnection,
  indices: readonly SearchedIndex[],
  request: Charted,
  retainedCounts: RetainedCounts,
): Promise<Buckets | undefined> {
  const sums = BucketSums.of(request);
  if (sums === undefined) return undefined;
  for (const { file } of indices) {
    if (file.documents === 0) continue;
    const counts = await retainedCounts.find(connection, file, request);
    if (counts === undefined || (sums.interval !== undefined && sums.interval.width % counts.width !== 0))
      return undefined;
    if (request.from === undefined && request.to === undefined) sums.total += counts.untimed;
    for (const [time, rows] of counts.wholes(request)) sums.add(time, rows);
    for (const [time, rows] of await countParts(connection, file, request, counts)) sums.add(time, rows);
  }
  return sums.buckets(request);
}

/** For requests that pass `timesOnly`. Undefined: not all rows are in lists. */
export function listBuckets(leased: readonly RowsLease[], request: Charted): Buckets | undefined {
  const sums = BucketSums.of(request);
  const { from, to } = request;
  if (sums === undefined || leased.some(({ list }) => list === undefined)) return undefined;
  for (const { list } of leased) {
    for (const { time } of list ?? []) {
      if (time === null) sums.total += from === undefined && to === undefined ? 1 : 0;
      else if ((from === undefined || time >= from) && (to === undefined || time < to)) sums.add(time, 1);
    }
  }
  return sums.buckets(request);
}

class BucketSums {
  /** Undefined: one bucket for all. */
  readonly interval: BucketWidth | undefined;
  total = 0;
  readonly #rows = new Map<number, number>();

  private constructor(interval: BucketWidth | undefined) {
    this.interval = interval;
  }

  /** Undefined: the buckets are not all of one width. */
  static of({ groups: [group, inner] }: Charted): BucketSums | undefined {
    const interval = group === undefined ? undefined : bucketWidth(group.interval ?? defaultInterval);
    return inner !== undefined || (group !== undefined && interval === undefined)
      ? undefined
      : new BucketSums(interval);
  }

  add(time: number, rows: number): void {
    this.total += rows;
    if (this.interval === undefined || rows === 0) return;
    const { start, width } = this.interval;
    const key = Math.floor((time - start) / width) * width + start;
    this.#rows.set(key, (this.#rows.get(key) ?? 0) + rows);
  }

  buckets(request: Charted): Buckets {
    if (this.#rows.size > maxBuckets)
      throw storeError('STORE_QUERY_INVALID', 'aggregation', `more than ${maxBuckets} buckets`);
    const values = (rows: number): readonly number[] => request.metrics.map(() => rows);
    const whole = { key: [], documents: this.total, values: values(this.total) };
    const buckets =
      this.interval === undefined
        ? [whole]
        : leafBuckets(request, [
            Array.from(this.#rows, ([key, rows]) => ({ key: [key], documents: rows, values: values(rows) })),
          ]);
    return { whole, buckets };
  }
}
