/**
 * `latest`: what the newest message of a bucket has in a field. One search for each bucket, so that stores agree on it
 * as they agree on searches.
 */
import { at } from '../../core/at.js';
import { and } from '../language/tree.js';
import { bucketEnd } from '../reference/aggregate.js';
import { isLatest, type AskedAggregate, type LatestMetric, type MetricValue, type SearchBucket } from '../contract.js';
import { searchErrors } from '../errors.js';
import type { Plan } from '../plan/plan.js';
import type { Turn } from './turn.js';
import type { SearchContext } from './context.js';
import type { AggregateRequest, Bucket, Grouping, Metric, QueryNode } from '../../schemas/query.js';

/** Buckets times fields; each costs a search. */
const mostLookUps = 1_000;
/** Characters of a text; whoever wants whole messages asks for messages. */
const longestText = 10_000;

/** Where the newest messages are looked up: in the question of the aggregation, within its turn. */
interface LookUp {
  readonly context: SearchContext;
  readonly plan: Plan;
  readonly turn: Turn;
}

/** What the store is asked for. */
export function withoutLatest({
  metrics,
  sort,
  ...rest
}: AskedAggregate): Pick<AggregateRequest, 'groups' | 'metrics' | 'sort' | 'whole'> {
  const measured = metrics.filter((metric): metric is Metric => !isLatest(metric));
  const own =
    typeof sort?.by === 'number'
      ? { ...sort, by: metrics.slice(0, sort.by).filter((metric) => !isLatest(metric)).length }
      : sort;
  return { ...rest, metrics: measured, sort: own };
}

/** The buckets of the store with the values of `latest` in their places. Throws SEARCH_AGGREGATE_INVALID. */
export async function addLatest(
  looking: LookUp,
  { groups, metrics }: AskedAggregate,
  buckets: readonly Bucket[],
): Promise<readonly SearchBucket[]> {
  const latest = metrics.filter(isLatest);
  if (latest.length === 0) return buckets;
  if (buckets.length * latest.length > mostLookUps)
    throw searchErrors.create('SEARCH_AGGREGATE_INVALID', {
      place: 'metrics',
      got: `latest of ${buckets.length * latest.length} buckets`,
      allowed: `${mostLookUps}; a smaller limit, or a wider interval`,
    });
  const found: SearchBucket[] = [];
  for (const bucket of buckets) {
    const within = groups.map((group, index) => conditionOf(group, at(bucket.key, index)));
    const values: MetricValue[] = [];
    let measured = 0;
    for (const metric of metrics) {
      if (!isLatest(metric)) values.push(bucket.values[measured++] ?? null);
      else values.push(bucket.documents === 0 ? null : await newest(looking, metric, within));
    }
    found.push({ ...bucket, values });
  }
  return found;
}

async function newest(
  { context: { store }, plan, turn }: LookUp,
  { field }: LatestMetric,
  within: readonly QueryNode[],
): Promise<MetricValue> {
  const query = and([plan.query, { kind: 'exists', field }, ...within]);
  const { hits } = await store.queries.search({
    ...plan,
    ...turn,
    query,
    limit: 1,
    count: false,
    sort: { field: 'timestamp', direction: 'desc' },
    fields: [field],
    partial: true,
  });
  return shownValue(hits[0]?.document[field]);
}

function shownValue(value: unknown): MetricValue {
  if (typeof value === 'string') return value.slice(0, longestText);
  return typeof value === 'number' || typeof value === 'boolean' || Array.isArray(value)
    ? (value as MetricValue)
    : null;
}

/**
 * Matches the documents of a bucket. A range from the key to itself tells numbers from texts that look like numbers.
 */
function conditionOf({ kind, field, interval }: Grouping, key: Bucket['key'][number]): QueryNode {
  if (typeof key === 'boolean') return { kind: 'term', field, text: String(key) };
  if (kind === 'time')
    return {
      kind: 'range',
      field,
      from: { value: Number(key), inclusive: true },
      to: { value: bucketEnd(Number(key), interval ?? { unit: 'minute', count: 1 }), inclusive: false },
    };
  return { kind: 'range', field, from: { value: key, inclusive: true }, to: { value: key, inclusive: true } };
}
