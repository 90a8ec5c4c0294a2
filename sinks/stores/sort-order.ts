/**
 * The order of hits, the same for both stores: numbers before texts before documents without the field, whatever the
 * direction; equal ones by id, then by index.
 */
import { compareCodePoints } from '../../core/values.js';
import type { SearchAfter } from '../../schemas/query.js';

export function comparePositions(direction: 'asc' | 'desc'): (left: SearchAfter, right: SearchAfter) => number {
  const sign = direction === 'asc' ? 1 : -1;
  const rank = (value: SearchAfter['sortValue']): number => (typeof value === 'number' ? 0 : value === null ? 2 : 1);
  return (left, right) => {
    const a = left.sortValue;
    const b = right.sortValue;
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    const byValue = typeof a === 'number' ? a - Number(b) : compareCodePoints(String(a), String(b));
    return (
      sign * (byValue || compareCodePoints(left.id, right.id) || compareCodePoints(left.index ?? '', right.index ?? ''))
    );
  };
}
