/** The beginning of the time bucket that holds a time: as SQL on milliseconds, and as a function of them. */
import type { BucketInterval } from '../../../../schemas/query.js';

export const defaultInterval = { unit: 'minute', count: 1 } as const;

const widths = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
} as const;
/** 5 January 1970, the first Monday. */
const firstMonday = 345_600_000;

export function bucketSql(column: string, { unit, count }: BucketInterval): string {
  if (unit === 'month' || unit === 'year') {
    const part = unit === 'year' ? 'year' : count === 3 ? 'quarter' : 'month';
    return `epoch_ms(date_trunc('${part}', epoch_ms(CAST(${column} AS BIGINT))))::DOUBLE`;
  }
  const width = widths[unit] * count;
  const start = unit === 'week' ? firstMonday : 0;
  return `(floor((${column} - ${start}) / ${width}) * ${width} + ${start})`;
}

/** Milliseconds of one bucket, and where one of them begins; undefined where they are not all as long. */
/** Buckets of one width, in milliseconds; `start` is where one of them begins. */
export interface BucketWidth {
  readonly width: number;
  readonly start: number;
}

export function bucketWidth({ unit, count }: BucketInterval): BucketWidth | undefined {
  if (unit === 'month' || unit === 'year') return undefined;
  return { width: widths[unit] * count, start: unit === 'week' ? firstMonday : 0 };
}
