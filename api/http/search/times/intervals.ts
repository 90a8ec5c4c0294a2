/** Widths of time buckets: chosen for a range, or read from a text. */
import { ownMember } from '../../../../core/own-member.js';
import type { BucketInterval } from '../../../../schemas/query.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Up to this long a range, this wide a bucket; what peers show for the same range. */
const automatic: readonly (readonly [upTo: number, interval: BucketInterval])[] = [
  [20, { unit: 'millisecond', count: 1 }],
  [200, { unit: 'millisecond', count: 10 }],
  [2_000, { unit: 'millisecond', count: 100 }],
  [10_000, { unit: 'millisecond', count: 500 }],
  [minute, { unit: 'second', count: 1 }],
  [2 * minute, { unit: 'second', count: 2 }],
  [4 * minute, { unit: 'second', count: 5 }],
  [7 * minute, { unit: 'second', count: 10 }],
  [10 * minute, { unit: 'second', count: 20 }],
  [30 * minute, { unit: 'second', count: 30 }],
  [hour, { unit: 'minute', count: 1 }],
  [2 * hour, { unit: 'minute', count: 2 }],
  [4 * hour, { unit: 'minute', count: 5 }],
  [12 * hour, { unit: 'minute', count: 10 }],
  [16 * hour, { unit: 'minute', count: 15 }],
  [day, { unit: 'minute', count: 30 }],
  [2 * day, { unit: 'hour', count: 1 }],
  [4 * day, { unit: 'hour', count: 2 }],
  [10 * day, { unit: 'hour', count: 4 }],
  [12 * day, { unit: 'hour', count: 6 }],
  [28 * day, { unit: 'hour', count: 12 }],
  [60 * day, { unit: 'day', count: 1 }],
  [120 * day, { unit: 'day', count: 2 }],
  [180 * day, { unit: 'day', count: 3 }],
  [366 * day, { unit: 'week', count: 1 }],
  [732 * day, { unit: 'week', count: 2 }],
];

/** `scaling` above 1: coarser. */
export function automaticInterval(rangeMs: number, scaling = 1): BucketInterval {
  const scaled = rangeMs * (scaling > 0 ? scaling : 1);
  return automatic.find(([upTo]) => scaled <= upTo)?.[1] ?? { unit: 'month', count: 1 };
}

const units: Readonly<Record<string, BucketInterval['unit']>> = {
  ms: 'millisecond',
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  M: 'month',
  y: 'year',
};
const words: Readonly<Record<string, BucketInterval['unit']>> = {
  millisecond: 'millisecond',
  second: 'second',
  minute: 'minute',
  hour: 'hour',
  day: 'day',
  week: 'week',
  month: 'month',
  year: 'year',
};

/** `1h`, `30s`, `1M`, or `hours` with a value beside it; undefined when it is none. */
export function parseInterval(timeunit: string, value?: number): BucketInterval | undefined {
  const [, digits, short = ''] = /^(\d{1,6})(ms|[smhdwMy])$/.exec(timeunit) ?? [];
  const unit = units[short] ?? ownMember(words, timeunit.toLowerCase().replace(/s$/, ''));
  const count = digits === undefined ? (value ?? 1) : Number(digits);
  return unit === undefined || !Number.isSafeInteger(count) || count < 1 ? undefined : { unit, count };
}
