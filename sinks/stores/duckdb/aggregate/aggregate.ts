/** Runs one aggregation over several index files. */
import { maxBuckets, type AggregateResult, type Bucket } from '../../../../schemas/query.js';
import { leafBuckets } from '../../buckets.js';
import { aggregateSql, type AggregateSql, type EngineAggregate } from './aggregate-sql.js';
import { storeError } from '../failures.js';
import { isWorthRetaining, readsTexts } from '../sql/condition-sql.js';
import type { Reading } from '../search/reading.js';
import type { RowsLease } from '../retained/retained-rows.js';
import { listBuckets, timesOnly, timeBuckets } from './time-buckets.js';

export async function aggregateIndices(reading: Reading, request: EngineAggregate): Promise<AggregateResult> {
  const { connection, indices, skipped, retained } = reading;
  if (indices.length === 0) return nothing(request, skipped);
  const byTime = timesOnly(request);
  // Looking values up by their rows costs more than testing a short value in each row.
  const leased = (byTime ? isWorthRetaining : readsTexts)(request.query) ? await leaseAll(reading, request) : undefined;
  try {
    const buckets = !byTime
      ? undefined
      : leased === undefined
        ? await timeBuckets(connection, indices, request, retained.counts)
        : listBuckets(leased, request);
    if (buckets !== undefined)
      return {
        total: buckets.whole.documents,
        buckets: buckets.buckets,
        otherDocuments: 0,
        skipped,
        ...wholeOf(request, buckets.whole),
      };
    // A part of the statement for each file costs as much as a few thousand rows.
    const some = indices
      .map(({ file }, at) => ({ file, leased: leased?.[at] }))
      .filter((one) => one.leased?.rows !== 0);
    if (some.length === 0) return nothing(request, skipped);
    const statement = aggregateSql(
      some.map(({ file }) => file),
      request,
      some.flatMap((one) => one.leased ?? []),
    );
    const result = await connection.runAndReadAll(statement.sql, statement.values);
    return readRows(result.getRowObjects(), statement, request, skipped);
  } finally {
    for (const one of leased ?? []) one.release();
  }
}

function nothing(request: EngineAggregate, skipped: readonly string[]): AggregateResult {
  return {
    total: 0,
    buckets: request.groups.length > 0 ? [] : [emptyBucket(request)],
    otherDocuments: 0,
    skipped,
    ...wholeOf(request, emptyBucket(request)),
  };
}

/** Undefined: of one file too many match. */
async function leaseAll(
  { connection, indices, retained }: Reading,
  request: EngineAggregate,
): Promise<RowsLease[] | undefined> {
  const leased: RowsLease[] = [];
  let whole = false;
  try {
    for (const { file } of indices) {
      const rows = await retained.rows.lease(connection, file, request);
      if (rows === undefined) return undefined;
      leased.push(rows);
    }
    whole = true;
    return leased;
  } finally {
    if (!whole) for (const one of leased) one.release();
  }
}

function readRows(
  rows: readonly Row[],
  statement: AggregateSql,
  request: EngineAggregate,
  skipped: readonly string[],
): AggregateResult {
  if (rows.length > maxBuckets + 1)
    throw storeError('STORE_QUERY_INVALID', 'aggregation', `more than ${maxBuckets} buckets`);
  const levels = request.groups.map((): Bucket[] => []);
  const cut = request.groups.map(() => 0);
  let whole: Bucket | undefined;
  for (const row of rows) {
    const level = Number(row['level']);
    if (level === 0) {
      whole = bucketOf(row, request, []);
      continue;
    }
    levels[level - 1]?.push(bucketOf(row, request, keyOf(row, statement, level)));
    cut[level - 1] = Number(row['cut']);
  }
  const buckets = request.groups.length > 0 ? leafBuckets(request, levels) : [whole ?? emptyBucket(request)];
  return {
    total: Number(rows[0]?.['total'] ?? 0),
    buckets,
    otherDocuments: cut.reduce((sum, one) => sum + one, 0),
    skipped,
    ...wholeOf(request, whole ?? emptyBucket(request)),
  };
}

function wholeOf(request: EngineAggregate, whole: Bucket): Pick<AggregateResult, 'whole'> {
  return request.whole === true ? { whole } : {};
}

type Row = Readonly<Record<string, unknown>>;

function keyOf(row: Row, { groupKinds }: AggregateSql, level: number): Bucket['key'] {
  return groupKinds.slice(0, level).map((kinds, at) => {
    const kind = kinds.find((one) => row[`g${at}_${one}`] !== null);
    return row[`g${at}_${kind}`] as Bucket['key'][number];
  });
}

function bucketOf(row: Row, request: EngineAggregate, key: Bucket['key']): Bucket {
  return {
    key,
    documents: Number(row['documents']),
    values: request.metrics.map((_, at) => (typeof row[`m${at}`] === 'number' ? (row[`m${at}`] as number) : null)),
  };
}

/** As an engine answers for nothing at all. */
function emptyBucket(request: EngineAggregate): Bucket {
  return {
    key: [],
    documents: 0,
    values: request.metrics.map((metric) => (metric.kind === 'count' || metric.kind === 'cardinality' ? 0 : null)),
  };
}
