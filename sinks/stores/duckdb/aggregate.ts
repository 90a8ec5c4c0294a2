/** Runs one aggregation over several index files. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { maxBuckets, type AggregateResult, type Bucket } from '../../../schemas/query.js';
import { leafBuckets } from '../buckets.js';
import { aggregateSql, type AggregateSql, type EngineAggregate } from './aggregate-sql.js';
import { storeError } from './failures.js';
import type { SearchedIndex } from './search.js';

export type { EngineAggregate } from './aggregate-sql.js';

export async function aggregateIndices(connection: DuckDBConnection, indices: readonly SearchedIndex[], request: EngineAggregate, skipped: readonly string[]): Promise<AggregateResult> {
  if (indices.length === 0) return { total: 0, buckets: request.groups.length > 0 ? [] : [emptyBucket(request)], otherDocuments: 0, skipped };
  const statement = aggregateSql(indices.map(({ file }) => file), request);
  const rows = (await connection.runAndReadAll(statement.sql, statement.values)).getRowObjects() as unknown as Row[];
  if (rows.length > maxBuckets + 1) throw storeError('STORE_QUERY_INVALID', 'aggregation', `more than ${maxBuckets} buckets`);
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
  return { total: Number(rows[0]?.['total'] ?? 0), buckets, otherDocuments: cut.reduce((sum, one) => sum + one, 0), skipped };
}

type Row = Readonly<Record<string, unknown>>;

function keyOf(row: Row, { groupKinds }: AggregateSql, level: number): Bucket['key'] {
  return groupKinds.slice(0, level).map((kinds, at) => {
    const kind = kinds.find((one) => row[`g${at}_${one}`] !== null);
    return row[`g${at}_${kind}`] as Bucket['key'][number];
  });
}

function bucketOf(row: Row, request: EngineAggregate, key: Bucket['key']): Bucket {
  return { key, documents: Number(row['documents']), values: request.metrics.map((_, at) => (typeof row[`m${at}`] === 'number' ? row[`m${at}`] as number : null)) };
}

/** As an engine answers for nothing at all. */
function emptyBucket(request: EngineAggregate): Bucket {
  return { key: [], documents: 0, values: request.metrics.map((metric) => (metric.kind === 'count' || metric.kind === 'cardinality' ? 0 : null)) };
}
