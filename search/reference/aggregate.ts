/** The reference meaning of an aggregation: what both stores must answer for plain documents. */
import { at } from '../../core/at.js';
import { firstMonday, unitMs } from '../../core/time/times.js';
import { compareCodePoints } from '../../core/values.js';
import {
  defaultBucketLimit,
  type AggregateRequest,
  type Bucket,
  type BucketInterval,
  type Grouping,
  type Metric,
} from '../../schemas/query.js';
import { timeFields } from '../../schemas/index-fields.js';
import { lowerCase } from '../../schemas/words.js';
import {
  isLatest,
  type AggregateAnswer,
  type AskedAggregate,
  type MetricValue,
  type SearchBucket,
} from '../contract.js';
import { compileQuery } from './evaluate.js';

type Document = Readonly<Record<string, unknown>>;
type Key = Bucket['key'][number];
type Asked = AskedAggregate & Pick<AggregateRequest, 'query' | 'from' | 'to'>;
interface Member {
  readonly key: readonly Key[];
  readonly documents: readonly Document[];
}

export function aggregateDocuments(
  documents: readonly Document[],
  request: Asked,
): Pick<AggregateAnswer, 'total' | 'buckets' | 'whole' | 'otherDocuments'> {
  const matches = compileQuery(request.query);
  const { from = -Infinity, to = Infinity } = request;
  const found = documents.filter((document) => {
    const time = Date.parse(String(document['timestamp']));
    return (
      matches(document) && ((request.from === undefined && request.to === undefined) || (time >= from && time < to))
    );
  });
  let otherDocuments = 0;
  let level: Member[] = [{ key: [], documents: found }];
  for (const [index, group] of request.groups.entries()) {
    level = level.flatMap((outer) => {
      const members = membersOf(outer, group).sort(memberOrder(request, group, index));
      const limit = group.kind === 'values' ? (group.limit ?? defaultBucketLimit) : Infinity;
      otherDocuments += members.slice(limit).reduce((sum, member) => sum + member.documents.length, 0);
      return members.slice(0, limit);
    });
  }
  const bucketOf = (member: Member): SearchBucket => ({
    key: member.key,
    documents: member.documents.length,
    values: request.metrics.map((metric) =>
      isLatest(metric) ? latestOf(member.documents, metric.field) : measure(member.documents, metric),
    ),
  });
  return {
    total: found.length,
    buckets: level.map(bucketOf),
    otherDocuments,
    ...(request.whole === true ? { whole: bucketOf({ key: [], documents: found }) } : {}),
  };
}

function membersOf(outer: Member, group: Grouping): Member[] {
  const byKey = new Map<string, { key: readonly Key[]; documents: Document[] }>();
  for (const document of outer.documents) {
    for (const value of valuesOf(document, group.field)) {
      if (group.kind === 'time' && typeof value !== 'number') continue;
      const own =
        group.kind === 'time' ? bucketStart(Number(value), group.interval ?? { unit: 'minute', count: 1 }) : value;
      if (group.kind === 'values' && group.only !== undefined && !group.only.includes(String(own))) continue;
      const name = JSON.stringify(own);
      const member = byKey.get(name) ?? { key: [...outer.key, own], documents: [] };
      member.documents.push(document);
      byKey.set(name, member);
    }
  }
  return [...byKey.values()];
}

/** Times as milliseconds, `source` in small letters, each member of a list. */
function valuesOf(document: Document, field: string): Key[] {
  const value = Object.hasOwn(document, field) ? document[field] : undefined;
  const list: unknown[] = Array.isArray(value) ? [...new Set(value as unknown[])] : [value];
  return list
    .filter((one): one is Key => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
    .map((one) =>
      timeFields.has(field) ? Date.parse(String(one)) : field === 'source' ? lowerCase(String(one)) : one,
    );
}

/** The beginning of the bucket that holds a time. */
function bucketStart(time: number, { unit, count }: BucketInterval): number {
  const date = new Date(time);
  if (unit === 'year') return Date.UTC(Math.floor(date.getUTCFullYear() / count) * count, 0, 1);
  if (unit === 'month') {
    const month = Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / count) * count;
    return Date.UTC(Math.floor(month / 12), month % 12, 1);
  }
  const width = unitMs[unit] * count;
  const start = unit === 'week' ? firstMonday : 0;
  return Math.floor((time - start) / width) * width + start;
}

/** Where the bucket ends that begins at this time. */
export function bucketEnd(start: number, { unit, count }: BucketInterval): number {
  const date = new Date(start);
  if (unit === 'year') return Date.UTC(date.getUTCFullYear() + count, 0, 1);
  return unit === 'month'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + count, 1)
    : start + unitMs[unit] * count;
}

/** Numbers before texts; booleans as their texts. */
function compareKeys(left: Key, right: Key): number {
  if (typeof left === 'number' || typeof right === 'number')
    return typeof left === typeof right ? Number(left) - Number(right) : typeof left === 'number' ? -1 : 1;
  return compareCodePoints(String(left), String(right));
}

function memberOrder(
  { sort, metrics }: Asked,
  group: Grouping,
  index: number,
): (left: Member, right: Member) => number {
  const byKey = (left: Member, right: Member): number => compareKeys(at(left.key, index), at(right.key, index));
  if (group.kind === 'time') return byKey;
  const sign = sort?.direction === 'asc' ? 1 : -1;
  if (sort?.by === 'key') return (left, right) => sign * byKey(left, right);
  const sorted = sort === undefined ? undefined : metrics[sort.by];
  const metric = sorted === undefined || isLatest(sorted) ? undefined : sorted;
  return (left, right) => {
    const a = metric === undefined ? left.documents.length : measure(left.documents, metric);
    const b = metric === undefined ? right.documents.length : measure(right.documents, metric);
    if (a === b) return byKey(left, right);
    if (a === null) return 1;
    return b === null ? -1 : sign * (a - b);
  };
}

/** Equal times: the document with the larger id, or the later one. */
function latestOf(documents: readonly Document[], field: string): MetricValue {
  const order = (document: Document): readonly [number, string] => [
    Date.parse(String(document['timestamp'])),
    typeof document['_id'] === 'string' ? document['_id'] : '',
  ];
  const [first, ...others] = documents.filter((document) => valuesOf(document, field).length > 0);
  if (first === undefined) return null;
  const newest = others.reduce((best, one) => {
    const [[time, id], [bestTime, bestId]] = [order(one), order(best)];
    return time > bestTime || (time === bestTime && compareCodePoints(id, bestId) >= 0) ? one : best;
  }, first);
  return newest[field] as MetricValue;
}

function measure(documents: readonly Document[], metric: Metric): number | null {
  const { kind, field } = metric;
  if (field === undefined) return documents.length;
  if (kind === 'count') return documents.filter((document) => valuesOf(document, field).length > 0).length;
  const values = documents.flatMap((document) => valuesOf(document, field));
  if (kind === 'cardinality') return new Set(values.map((value) => JSON.stringify(value))).size;
  const numbers = values.filter((value) => typeof value === 'number').sort((a, b) => a - b);
  if (numbers.length === 0) return null;
  const sum = numbers.reduce((total, value) => total + value, 0);
  switch (kind) {
    case 'min':
      return numbers[0] ?? null;
    case 'max':
      return numbers.at(-1) ?? null;
    case 'sum':
      return sum;
    case 'average':
      return sum / numbers.length;
    case 'sum_of_squares':
      return numbers.reduce((total, value) => total + value * value, 0);
    case 'variance':
      return finite(varianceOf(numbers, sum / numbers.length));
    case 'deviation':
      return finite(Math.sqrt(varianceOf(numbers, sum / numbers.length)));
    case 'percentile':
      return numbers[nearestRank(numbers.length, metric.percentile ?? 50)] ?? null;
  }
}

function varianceOf(numbers: readonly number[], mean: number): number {
  return numbers.reduce((total, value) => total + (value - mean) ** 2, 0) / numbers.length;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Place of the smallest value that so many percent of the values do not exceed. */
function nearestRank(count: number, percentile: number): number {
  return Math.max(0, Math.ceil((percentile / 100) * count - 1e-9) - 1);
}
