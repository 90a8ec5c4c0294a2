/** The beginning of the time bucket that holds a time: as SQL on milliseconds, and as a function of them. */
import { firstMonday, unitMs } from '../../../../core/time/times.js';
import type { BucketInterval } from '../../../../schemas/query.js';

export const defaultInterval = { unit: 'minute', count: 1 } as const;

export function bucketSql(column: string, { unit, count }: BucketInterval): string {
  if (unit === 'month' || unit === 'year') {
    const part = unit === 'year' ? 'year' : count === 3 ? 'quarter' : 'month';
    return `epoch_ms(date_trunc('${part}', epoch_ms(CAST(${column} AS BIGINT))))::DOUBLE`;
  }
  const width = unitMs[unit] * count;
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
  return { width: unitMs[unit] * count, start: unit === 'week' ? firstMonday : 0 };
}
