/** The beginning of the time bucket that holds a time, as SQL on milliseconds. */
import type { BucketInterval } from '../../../schemas/query.js';

const widths = { millisecond: 1, second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
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
