/** Charts of nothing but counts by time, from what is counted by time already. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { maxBuckets, type AggregateRequest, type Bucket } from '../../../schemas/query.js';
import { leafBuckets } from '../buckets.js';
import { bucketWidth, defaultInterval } from './bucket-sql.js';
import { countParts } from './count-rows.js';
import { storeError } from './failures.js';
import type { SearchedIndex } from './found.js';
import type { KeptCounts } from './kept-counts.js';

type Charted = Pick<AggregateRequest, 'query' | 'from' | 'to' | 'groups' | 'metrics' | 'sort'>;

/** Nothing but the times of rows is asked for. */
export function timesOnly({ groups, metrics }: Pick<Charted, 'groups' | 'metrics'>): boolean {
  return groups.every(({ kind, field }) => kind === 'time' && field === 'timestamp') && metrics.every(({ field }) => field === undefined);
}

/** Of a request for which `timesOnly` holds. Undefined: the counts that are kept are not fine enough for it, or its rows lie too far apart in time. */
export async function timeBuckets(connection: DuckDBConnection, indices: readonly SearchedIndex[], request: Charted, keptCounts: KeptCounts): Promise<{ readonly whole: Bucket; readonly buckets: readonly Bucket[] } | undefined> {
  const [group, inner] = request.groups;
  const interval = group === undefined ? undefined : bucketWidth(group.interval ?? defaultInterval);
  if (inner !== undefined || (group !== undefined && interval === undefined)) return undefined;
  const byBucket = new Map<number, number>();
  let total = 0;
  const add = ([time, rows]: readonly [number, number]): void => {
    total += rows;
    if (interval === undefined || rows === 0) return;
    const key = Math.floor((time - interval.start) / interval.width) * interval.width + interval.start;
    byBucket.set(key, (byBucket.get(key) ?? 0) + rows);
  };
  for (const { file } of indices) {
    if (file.documents === 0) continue;
    const counts = await keptCounts.find(connection, file, request);
    if (counts === undefined || (interval !== undefined && interval.width % counts.width !== 0)) return undefined;
    if (request.from === undefined && request.to === undefined) total += counts.untimed;
    for (const whole of counts.wholes(request)) add(whole);
    for (const part of await countParts(connection, file, request, counts)) add(part);
  }
  if (byBucket.size > maxBuckets) throw storeError('STORE_QUERY_INVALID', 'aggregation', `more than ${maxBuckets} buckets`);
  const values = (rows: number): readonly number[] => request.metrics.map(() => rows);
  const whole = { key: [], documents: total, values: values(total) };
  const buckets = group === undefined ? [whole] : leafBuckets(request, [Array.from(byBucket, ([key, rows]) => ({ key: [key], documents: rows, values: values(rows) }))]);
  return { whole, buckets };
}
