/** The time range of a search as the command line and the API give it. */
import { searchErrors } from '../errors.js';
import { durationForms, parseDuration } from '../../core/time/durations.js';
import { parseTime, timeForms } from '../../core/time/times.js';

export interface TimeRangeOptions {
  /** `15m`, `2h30m`, `7d`, `4w`, or `all`. */
  readonly last?: string | undefined;
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
}

/** Half-open: from <= timestamp < to; undefined: open. */
interface TimeRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/**
 * Throws SEARCH_TIME_RANGE. `last` and `from`/`to` exclude each other; `last` holds the millisecond of `now` and
 * nothing later; a `to` of a day or minute ends before it.
 */
export function parseTimeRange(options: TimeRangeOptions, now: number): TimeRange {
  const { last, from, to } = options;
  if (last !== undefined) {
    if (from !== undefined || to !== undefined)
      throw searchErrors.create('SEARCH_TIME_RANGE', {
        place: 'last',
        got: 'last together with from or to',
        allowed: 'one of the two forms',
      });
    if (last.trim() === 'all') return { from: undefined, to: undefined };
    const duration = parseDuration(last);
    if (duration === undefined)
      throw searchErrors.create('SEARCH_TIME_RANGE', {
        place: 'last',
        got: JSON.stringify(last),
        allowed: `${durationForms}, all`,
      });
    return { from: now - duration, to: now + 1 };
  }
  const range = { from: readPoint('from', from, now), to: readPoint('to', to, now) };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to) {
    throw searchErrors.create('SEARCH_TIME_RANGE', {
      place: 'from',
      got: `${new Date(range.from).toISOString()}, which is not before ${new Date(range.to).toISOString()}`,
      allowed: 'from before to',
    });
  }
  return range;
}

function readPoint(place: string, value: string | number | undefined, now: number): number | undefined {
  if (value === undefined || value === '') return undefined;
  const span = parseTime(String(value), now);
  if (span === undefined)
    throw searchErrors.create('SEARCH_TIME_RANGE', { place, got: JSON.stringify(value), allowed: timeForms });
  return span.first;
}
