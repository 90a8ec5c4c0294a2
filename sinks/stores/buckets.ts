/** Buckets in the order of the answer, the same for both stores. */
import { at } from '../../core/at.js';
import type { AggregateRequest, Bucket } from '../../schemas/query.js';
import { compareCodePoints } from '../../core/values.js';

type Key = Bucket['key'][number];

/** Numbers before texts; booleans as their texts. */
function compareKeys(left: Key, right: Key): number {
  if (typeof left === 'number' || typeof right === 'number')
    return typeof left === typeof right ? Number(left) - Number(right) : typeof left === 'number' ? -1 : 1;
  return compareCodePoints(String(left), String(right));
}

/**
 * Orders the buckets of one grouping within one outer bucket: times ascend, values follow the request. Missing measures
 * come last.
 */
export function bucketOrder(
  request: Pick<AggregateRequest, 'groups' | 'sort'>,
  level: number,
): (left: Bucket, right: Bucket) => number {
  const byKey = (left: Bucket, right: Bucket): number => compareKeys(at(left.key, level), at(right.key, level));
  if (request.groups[level]?.kind === 'time') return byKey;
  const { by, direction } = request.sort ?? { by: undefined, direction: 'desc' };
  const sign = direction === 'asc' ? 1 : -1;
  if (by === 'key') return (left, right) => sign * byKey(left, right);
  const measure = (bucket: Bucket): number | null =>
    by === undefined ? bucket.documents : (bucket.values[by] ?? null);
  return (left, right) => {
    const a = measure(left);
    const b = measure(right);
    if (a === b) return byKey(left, right);
    if (a === null) return 1;
    return b === null ? -1 : sign * (a - b);
  };
}

/** The innermost buckets, in order: outer buckets decide first. */
export function leafBuckets(
  request: Pick<AggregateRequest, 'groups' | 'sort'>,
  levels: readonly (readonly Bucket[])[],
): Bucket[] {
  if (levels.length === 0) return [];
  const children = levels.map((buckets, level) => {
    const byParent = new Map<string, Bucket[]>();
    for (const bucket of buckets) {
      const parent = JSON.stringify(bucket.key.slice(0, level));
      const list = byParent.get(parent);
      if (list === undefined) byParent.set(parent, [bucket]);
      else list.push(bucket);
    }
    for (const list of byParent.values()) list.sort(bucketOrder(request, level));
    return byParent;
  });
  const leaves: Bucket[] = [];
  const walk = (level: number, parent: string): void => {
    for (const bucket of children[level]?.get(parent) ?? []) {
      if (level === levels.length - 1) leaves.push(bucket);
      else walk(level + 1, JSON.stringify(bucket.key));
    }
  };
  walk(0, '[]');
  return leaves;
}
