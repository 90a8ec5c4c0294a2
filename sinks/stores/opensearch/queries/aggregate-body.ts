/**
 * An aggregation as the engine's language has it: one level inside of the other, `g` for groupings, `m<n>` for metrics.
 */
import { at } from '../../../../core/at.js';
import {
  defaultBucketLimit,
  type AggregateRequest,
  type BucketInterval,
  type Grouping,
  type Metric,
} from '../../../../schemas/query.js';
import { compileQuery, type Clause, type TypeOf } from './query.js';

/**
 * Buckets that each shard names, so that the most frequent of all are among them: exact up to so many values of a field
 * on a shard.
 */
const shardBuckets = 20_000;
/** The same of an inner grouping, for each outer bucket. */
const innerShardBuckets = 1_000;
/** Up to so many values a cardinality is practically exact; the engine takes no more. */
const exactCardinality = 40_000;
/**
 * Compression of the digest that stands for the values of a percentile: the larger the closer. Below a thousand values
 * each counts for itself.
 */
const digestCompression = 2_000;
/** Nearest rank: at a whole rank the digest steps to the next value one step too early. */
const justBelow = 1 - 1e-10;

export function levelAggregations(request: AggregateRequest, typeOf: TypeOf, level = 0): Clause {
  const group = request.groups[level];
  if (group === undefined) return metricAggregations(request, typeOf);
  const sortsByMetric = group.kind === 'values' && typeof request.sort?.by === 'number';
  const inner = {
    ...levelAggregations(request, typeOf, level + 1),
    ...(sortsByMetric ? metricAggregations(request, typeOf) : {}),
  };
  return {
    g: { ...(group.kind === 'time' ? timeBuckets(group) : valueBuckets(request, group, level, typeOf)), aggs: inner },
  };
}

function valueBuckets(request: AggregateRequest, group: Grouping, level: number, typeOf: TypeOf): Clause {
  const size = group.limit ?? defaultBucketLimit;
  const { by, direction } = request.sort ?? { by: undefined, direction: 'desc' as const };
  const byKey = { _key: by === 'key' ? direction : 'asc' };
  const order =
    by === 'key'
      ? [byKey]
      : [{ [by === undefined ? '_count' : metricPath(at(request.metrics, by), by, typeOf)]: direction }, byKey];
  const shard = Math.max(size, level === 0 ? shardBuckets : innerShardBuckets);
  return {
    terms: {
      field: group.field,
      size,
      shard_size: shard,
      order,
      ...(group.only === undefined ? {} : { include: group.only }),
    },
  };
}

const fixedUnits = { millisecond: 'ms', second: 's', minute: 'm', hour: 'h', day: 'd', week: 'd' } as const;

function timeBuckets(group: Grouping): Clause {
  const interval: BucketInterval = group.interval ?? { unit: 'minute', count: 1 };
  const { unit, count } = interval;
  const common = { field: group.field, min_doc_count: 1, order: { _key: 'asc' } };
  if (unit === 'month' || unit === 'year')
    return {
      date_histogram: { ...common, calendar_interval: unit === 'year' ? 'year' : count === 3 ? 'quarter' : 'month' },
    };
  if (unit === 'week') return { date_histogram: { ...common, fixed_interval: `${count * 7}d`, offset: '+4d' } };
  return { date_histogram: { ...common, fixed_interval: `${count}${fixedUnits[unit]}` } };
}

function isNumeric(typeOf: TypeOf, field: string | undefined): boolean {
  const type = field === undefined ? undefined : typeOf(field);
  return type === undefined || type === 'number' || type === 'time';
}

/** Measures the documents of one bucket, or all. */
export function metricAggregations({ metrics }: AggregateRequest, typeOf: TypeOf): Clause {
  return Object.fromEntries(
    metrics.flatMap((metric, at) => {
      const body = metricBody(metric, typeOf);
      return body === undefined ? [] : [[`m${at}`, body]];
    }),
  );
}

/** Figures of squares, by their names in the engine's answer. */
export const extendedNames: Readonly<Partial<Record<Metric['kind'], string>>> = {
  sum_of_squares: 'sum_of_squares',
  variance: 'variance',
  deviation: 'std_deviation',
};

/** Undefined where the engine needs no question: documents are counted anyway, and texts have no sum. */
function metricBody(metric: Metric, typeOf: TypeOf): Clause | undefined {
  const { kind, field } = metric;
  if (field === undefined) return undefined;
  if (kind === 'count') return { filter: compileQuery({ kind: 'exists', field }, typeOf) };
  if (kind === 'cardinality') return { cardinality: { field, precision_threshold: exactCardinality } };
  if (!isNumeric(typeOf, field)) return undefined;
  if (kind in extendedNames) return { extended_stats: { field } };
  if (kind !== 'percentile') return { stats: { field } };
  return {
    percentiles: { field, percents: [percentOf(metric)], keyed: false, tdigest: { compression: digestCompression } },
  };
}

function percentOf(metric: Metric): number {
  return (metric.percentile ?? 50) * justBelow;
}

/** What a terms aggregation sorts by. */
function metricPath(metric: Metric, at: number, typeOf: TypeOf): string {
  if (metricBody(metric, typeOf) === undefined) return '_count';
  switch (metric.kind) {
    case 'count':
      return `m${at}`;
    case 'cardinality':
      return `m${at}`;
    case 'percentile':
      return `m${at}[${percentOf(metric)}]`;
    case 'average':
      return `m${at}.avg`;
    default:
      return `m${at}.${extendedNames[metric.kind] ?? metric.kind}`;
  }
}
