/** Aggregations over many indices: those that type the fields alike are asked together, the answers joined. */
import { at } from '../../../../core/at.js';
import { standardFields } from '../../../../schemas/index-fields.js';
import {
  defaultBucketLimit,
  maxBuckets,
  type AggregateRequest,
  type AggregateResult,
  type Bucket,
  type Metric,
} from '../../../../schemas/query.js';
import { bucketOrder, leafBuckets } from '../../buckets.js';
import { storeErrors } from '../../errors.js';
import { extendedNames, levelAggregations, metricAggregations } from './aggregate-body.js';
import { joinMoments, joinVariances, type Moments } from '../moments.js';
import { typedFields, type TypeOf } from './query.js';
import { askUntilAllAnswer, queryClause } from './ask.js';
import type { Send } from '../requests.js';
import { groupTypes } from './search.js';
import { groupByTypes } from './type-groups.js';

interface RawMetric {
  readonly doc_count?: number;
  readonly value?: number;
  readonly count?: number;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly avg?: number | null;
  readonly sum?: number | null;
  readonly sum_of_squares?: number | string | null;
  readonly variance?: number | string | null;
  readonly std_deviation?: number | string | null;
  readonly values?: readonly { readonly value: number | null }[];
}
interface RawLevel {
  readonly buckets: readonly RawBucket[];
  readonly sum_other_doc_count?: number;
}
type RawBucket = { readonly key: string | number; readonly doc_count: number; readonly g?: RawLevel } & Readonly<
  Record<string, unknown>
>;
interface RawResult {
  readonly hits: { readonly total: { readonly value: number } };
  readonly aggregations?: { readonly g?: RawLevel } & Readonly<Record<string, unknown>>;
}

/** A bucket on its way: an average knows how many values it is of. */
interface Part extends Bucket {
  readonly moments: readonly Moments[];
}
interface Joined {
  total: number;
  other: number;
  readonly levels: Map<string, Part>[];
  whole: Part | undefined;
}

export async function aggregate(send: Send, request: AggregateRequest, timeoutMs: number): Promise<AggregateResult> {
  const fields = typedFields(request.query);
  for (const { field } of [...request.groups, ...request.metrics])
    if (field !== undefined && !standardFields.has(field)) fields.add(field);
  const groups = await groupByTypes(send, [...new Set(request.indices)], [...fields], request.signal);
  const joined: Joined = {
    total: 0,
    other: 0,
    levels: request.groups.map(() => new Map<string, Part>()),
    whole: undefined,
  };
  const skipped: string[] = [];
  const failures: { index: string; reason: string }[] = [];
  for (const group of groups) {
    const typeOf = groupTypes(group);
    const body = {
      size: 0,
      track_total_hits: true,
      query: queryClause(request, typeOf),
      aggs: {
        ...levelAggregations(request, typeOf),
        ...(request.whole === true ? metricAggregations(request, typeOf) : {}),
      },
    };
    const answer = await askUntilAllAnswer(
      send,
      { ...request, timeoutMs: request.timeoutMs ?? timeoutMs },
      group.indices,
      body,
    );
    skipped.push(...answer.skipped);
    failures.push(...answer.failures);
    if (answer.body !== undefined) addAnswer(joined, request, answer.body as RawResult, typeOf);
  }
  const buckets =
    request.groups.length === 0
      ? [joined.whole ?? emptyPart(request)]
      : leafBuckets(request, cutLevels(request, joined, groups.length > 1));
  return {
    total: joined.total,
    otherDocuments: joined.other,
    skipped,
    ...(request.whole === true ? { whole: bucketOf(joined.whole ?? emptyPart(request)) } : {}),
    ...(failures.length > 0 ? { failures } : {}),
    buckets: buckets.map(bucketOf),
  };
}

function bucketOf({ key, documents, values }: Bucket): Bucket {
  return { key, documents, values };
}

function addAnswer(joined: Joined, request: AggregateRequest, answer: RawResult, typeOf: TypeOf): void {
  joined.total += answer.hits.total.value;
  const whole = answer.aggregations ?? {};
  if (request.groups.length === 0 || request.whole === true) {
    const part = partOf(request, whole, answer.hits.total.value, []);
    joined.whole = joined.whole === undefined ? part : joinParts(request, joined.whole, part);
  }
  let count = 0;
  const walk = (raw: RawLevel | undefined, level: number, outer: Bucket['key']): void => {
    joined.other += raw?.sum_other_doc_count ?? 0;
    for (const bucket of raw?.buckets ?? []) {
      count += 1;
      if (count > maxBuckets)
        throw storeErrors.create('STORE_QUERY_INVALID', {
          place: 'aggregation',
          got: `more than ${maxBuckets} buckets`,
        });
      const key = [...outer, keyOf(bucket.key, request.groups[level]?.field, typeOf)];
      const part = partOf(request, bucket, bucket.doc_count, key);
      const known = joined.levels[level]?.get(JSON.stringify(key));
      joined.levels[level]?.set(JSON.stringify(key), known === undefined ? part : joinParts(request, known, part));
      if (level + 1 < request.groups.length) walk(bucket.g, level + 1, key);
    }
  };
  walk(whole.g, 0, []);
}

function keyOf(key: string | number, field: string | undefined, typeOf: TypeOf): string | number | boolean {
  return field !== undefined && typeOf(field) === 'boolean' && typeof key === 'string' ? key === 'true' : key;
}

function partOf(
  request: AggregateRequest,
  raw: Readonly<Record<string, unknown>>,
  documents: number,
  key: Bucket['key'],
): Part {
  const values = request.metrics.map((metric, at) =>
    metricValue(metric, raw[`m${at}`] as RawMetric | undefined, documents),
  );
  const moments = request.metrics.map((_, at) => {
    const { count = 0, avg } = (raw[`m${at}`] as RawMetric | undefined) ?? {};
    return { count, mean: avg ?? 0 };
  });
  return { key, documents, values, moments };
}

function metricValue(metric: Metric, raw: RawMetric | undefined, documents: number): number | null {
  if (metric.kind === 'count') return metric.field === undefined ? documents : (raw?.doc_count ?? 0);
  if (metric.kind === 'cardinality') return raw?.value ?? 0;
  if (metric.kind === 'percentile') return raw?.values?.[0]?.value ?? null;
  if (raw === undefined || raw.count === 0) return null;
  const name = extendedNames[metric.kind] ?? (metric.kind === 'average' ? 'avg' : metric.kind);
  const value = raw[name as 'variance'];
  return typeof value === 'number' ? value : null;
}

/** Joins the same bucket of indices with different types. */
function joinParts(request: AggregateRequest, left: Part, right: Part): Part {
  const none: Moments = { count: 0, mean: 0 };
  const moments = request.metrics.map((_, at) => [left.moments[at] ?? none, right.moments[at] ?? none] as const);
  const values = request.metrics.map((metric, index) =>
    joinValues(metric, [left.values[index] ?? null, right.values[index] ?? null], at(moments, index)),
  );
  return {
    key: left.key,
    documents: left.documents + right.documents,
    values,
    moments: moments.map(([one, other]) => joinMoments(one, other)),
  };
}

function joinValues(
  metric: Metric,
  [left, right]: readonly [number | null, number | null],
  moments: readonly [Moments, Moments],
): number | null {
  if (left === null || right === null) return left ?? right;
  switch (metric.kind) {
    case 'min':
      return Math.min(left, right);
    case 'max':
      return Math.max(left, right);
    case 'average':
      return joinMoments(...moments).mean;
    case 'variance':
      return joinVariances(left, right, moments);
    case 'deviation':
      return Math.sqrt(joinVariances(left ** 2, right ** 2, moments));
    case 'percentile':
      throw storeErrors.create('STORE_QUERY_INVALID', {
        place: metric.field,
        got: 'a percentile over indices that hold the fields of this request in different types',
        allowed: 'one index set, or a time range within one index',
      });
    default:
      return left + right;
  }
}

/** Joined answers may have more buckets than the limit lets through. */
function cutLevels(request: AggregateRequest, joined: Joined, several: boolean): Part[][] {
  const levels = joined.levels.map((parts) => [...parts.values()]);
  if (!several) return levels;
  return levels.map((parts, level) => {
    const group = request.groups[level];
    if (group?.kind !== 'values') return parts;
    return siblingsOf(parts, level).flatMap((siblings) => {
      siblings.sort(bucketOrder(request, level));
      const limit = group.limit ?? defaultBucketLimit;
      joined.other += siblings.slice(limit).reduce((sum, part) => sum + part.documents, 0);
      return siblings.slice(0, limit);
    });
  });
}

function siblingsOf(parts: readonly Part[], level: number): Part[][] {
  const byParent = new Map<string, Part[]>();
  for (const part of parts) {
    const parent = JSON.stringify(part.key.slice(0, level));
    const siblings = byParent.get(parent);
    if (siblings === undefined) byParent.set(parent, [part]);
    else siblings.push(part);
  }
  return [...byParent.values()];
}

function emptyPart(request: AggregateRequest): Part {
  return {
    key: [],
    documents: 0,
    values: request.metrics.map((metric) => (metric.kind === 'count' || metric.kind === 'cardinality' ? 0 : null)),
    moments: [],
  };
}
