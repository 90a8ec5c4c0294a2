/**
 * Between which times the rows of an index lie: a search over a range of time leaves the other indices alone, and does
 * not even attach their files.
 */
import type { Condition } from '../sql/condition-sql.js';

/** Milliseconds since the epoch, both included, of rows with a timestamp; never narrower than the rows. */
export interface TimeSpan {
  readonly least: number;
  readonly most: number;
}

export const noTimes: TimeSpan = { least: Infinity, most: -Infinity };

/** With these cells of the column of `timestamp`. */
export function widened({ least, most }: TimeSpan, cells: readonly unknown[]): TimeSpan {
  for (const cell of cells) {
    if (typeof cell !== 'number') continue;
    if (cell < least) least = cell;
    if (cell > most) most = cell;
  }
  return { least, most };
}

export type TimeRange = Pick<Condition, 'from' | 'to'>;

/** False: no row can match. Rows without a timestamp match no range. */
export function mayMatch(span: TimeSpan | undefined, { from, to }: TimeRange): boolean {
  if (span === undefined) return true;
  return (
    (from === undefined || span.most >= from) &&
    (to === undefined || span.least < to) &&
    ((from ?? to) === undefined || span.least <= span.most)
  );
}

/** How much of the rows lies in the range if they come evenly, 0 to 1. */
export function shareWithin(
  { least, most }: TimeSpan,
  { from = least, to = most }: Pick<Condition, 'from' | 'to'>,
): number {
  const within = Math.min(to, most) - Math.max(from, least);
  return most > least ? Math.min(1, Math.max(0, within / (most - least))) : 1;
}
