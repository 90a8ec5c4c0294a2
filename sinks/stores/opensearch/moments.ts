/** Means and variances of two sets of values as those of both together. */

/** How many values, and their mean; 0 of no values. */
export interface Moments {
  readonly count: number;
  readonly mean: number;
}

export function joinMoments(left: Moments, right: Moments): Moments {
  const count = left.count + right.count;
  return { count, mean: count === 0 ? 0 : (left.mean * left.count + right.mean * right.count) / count };
}

/** For the whole population, not a sample. */
export function joinVariances(left: number, right: number, [one, other]: readonly [Moments, Moments]): number {
  const count = one.count + other.count;
  if (count === 0) return 0;
  return (
    (left * one.count + right * other.count) / count +
    (one.mean - other.mean) ** 2 * (one.count / count) * (other.count / count)
  );
}
