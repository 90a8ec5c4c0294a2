/** Time ranges as bodies and query strings give them → milliseconds. */
import type { TimeRangeBody } from '../../../../schemas/api-search.js';
import { parseTime, timeForms } from '../../../../core/time/times.js';
import { failure } from '../../failure.js';
import { parseKeyword, type ResolvedRange } from './keywords.js';
import { isTimeZone } from './time-zones.js';

/** What a search without a time range covers, as with peers. */
const defaultRangeMs = 300_000;
/** What JavaScript's Date can hold. */
const lastTime = 8.64e15;

/** Ends that no calendar has are the first and the last moment there is. */
export function resolveRange(range: TimeRangeBody | null | undefined, now: number): ResolvedRange {
  const { from, to } = readRange(range, now);
  return { from: from === undefined ? undefined : within(from), to: to === undefined ? undefined : within(to) };
}

/** NaN comes of counting months back for too long. */
const within = (time: number): number =>
  Number.isNaN(time) ? -lastTime : Math.min(lastTime, Math.max(-lastTime, time));

function readRange(range: TimeRangeBody | null | undefined, now: number): ResolvedRange {
  if (range === null || range === undefined) return { from: now - defaultRangeMs, to: now };
  switch (range.type) {
    case 'relative':
      return relative(range, now);
    case 'absolute':
      return ordered({ from: point('from', range.from, now), to: point('to', range.to, now) });
    case 'keyword': {
      const { timezone = 'UTC' } = range;
      if (!isTimeZone(timezone)) throw invalid('timezone', timezone, 'a name of the IANA database, as Europe/Berlin');
      const found = parseKeyword(range.keyword ?? '', timezone, now);
      if (found === undefined)
        throw invalid(
          'keyword',
          range.keyword ?? '',
          'today, yesterday, last hour, last five minutes, last 2 days, this week, 10 minutes ago, monday, yesterday 10:00, or two of them joined by to',
        );
      return found;
    }
  }
}

/** `range` seconds back, or from and to as seconds back; 0 is everything, messages with a time to come included. */
function relative({ range, from, to }: TimeRangeBody, now: number): ResolvedRange {
  const back = range ?? from;
  if (range !== undefined && from !== undefined)
    throw invalid('range', 'range together with from', 'one of the two forms');
  if (typeof back !== 'number') throw invalid('range', String(back), 'a number of seconds');
  if (to !== undefined && typeof to !== 'number') throw invalid('to', to, 'a number of seconds');
  if (back === 0) return { from: undefined, to: undefined };
  return ordered({ from: now - back * 1000, to: now - (to ?? 0) * 1000 });
}

function point(name: string, value: string | number | undefined, now: number): number {
  const span = value === undefined ? undefined : parseTime(String(value), now);
  if (span === undefined) throw invalid(name, String(value), timeForms);
  return span.first;
}

function ordered(range: { readonly from: number; readonly to: number }): ResolvedRange {
  if (range.from > range.to)
    throw invalid('from', `${iso(within(range.from))}, which is after ${iso(within(range.to))}`, 'from before to');
  return range;
}

function invalid(place: string, got: string, allowed: string): Error {
  return failure(
    'API_VALUE_INVALID',
    `timerange.${place}: The time range cannot be read. Got ${JSON.stringify(got.slice(0, 100))}. Allowed: ${allowed}.`,
    { body: { path: `timerange.${place}` } },
  );
}

export const iso = (time: number): string => new Date(time).toISOString();

/** As results say what was searched. */
/** A range as answers tell it: both ends, in ISO 8601. */
export interface EffectiveRange {
  readonly type: 'absolute';
  readonly from: string;
  readonly to: string;
}

export function effectiveRange({ from, to }: ResolvedRange, now: number): EffectiveRange {
  return { type: 'absolute', from: iso(from ?? 0), to: iso(to ?? now) };
}
