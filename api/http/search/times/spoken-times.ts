/** Times in words that need a grammar of dates: `monday`, `1st of april`, `yesterday 10:00`. */
import { casual, type ParsedComponents } from 'chrono-node';
import { toUniversal, zoneShift } from './time-zones.js';

/** Half-open: what one of the two texts around `to` names, or a text alone. */
export interface RangePart {
  readonly from: number;
  readonly to: number;
  /**
   * Where a range ends that ends with it, if not with its own end: at the point `2 hours ago`, or at the begin of a
   * written minute.
   */
  readonly end?: number;
}

/** Its patterns are not linear in the text. */
const maxLength = 100;
const dayMs = 86_400_000;

/**
 * Undefined: not understood, as a whole. Without a year or week the last such day is meant, or the first one from
 * `after` on. A point reaches to now.
 */
export function parseSpoken(text: string, timeZone: string, now: number, after?: number): RangePart | undefined {
  if (text.length > maxLength) return undefined;
  const [found, ...others] = casual.parse(text, {
    instant: new Date(now),
    timezone: zoneShift(timeZone, now) / 60_000,
  });
  if (found === undefined || others.length > 0 || found.text.length !== text.length) return undefined;
  if (found.end !== null && found.end !== undefined) return undefined;
  const from = after === undefined ? past(found.start, timeZone, now) : following(found.start, after, timeZone);
  return isDay(found.start) ? { from, to: nextDay(from, timeZone) } : { from, to: now, end: from };
}

const isDay = (time: ParsedComponents): boolean => !time.isCertain('hour');

function past(time: ParsedComponents, timeZone: string, now: number): number {
  const point = pointOf(time, timeZone);
  if (point <= now) return point;
  return isWeekday(time)
    ? pointOf(time, timeZone, { days: -7 })
    : isYearless(time)
      ? pointOf(time, timeZone, { years: -1 })
      : point;
}

function following(time: ParsedComponents, from: number, timeZone: string): number {
  const point = pointOf(time, timeZone);
  if (isWeekday(time))
    return pointOf(time, timeZone, {
      days:
        7 * Math.ceil(Math.max(0, from - point) / (7 * dayMs)) -
        7 * Math.floor(Math.max(0, point - from) / (7 * dayMs)),
    });
  return isYearless(time) && point < from ? pointOf(time, timeZone, { years: 1 }) : point;
}

const isWeekday = (time: ParsedComponents): boolean => time.isCertain('weekday') && !time.isCertain('day');
const isYearless = (time: ParsedComponents): boolean => time.isCertain('month') && !time.isCertain('year');

/** A day means its midnight. */
function pointOf(time: ParsedComponents, timeZone: string, { days = 0, years = 0 } = {}): number {
  const part = (name: Parameters<ParsedComponents['get']>[0]): number => time.get(name) ?? 0;
  const clock = isDay(time)
    ? ([0, 0, 0, 0] as const)
    : ([part('hour'), part('minute'), part('second'), part('millisecond')] as const);
  const local = Date.UTC(part('year') + years, part('month') - 1, part('day') + days, ...clock);
  return time.isCertain('timezoneOffset') ? local - part('timezoneOffset') * 60_000 : toUniversal(local, timeZone);
}

/** Also where clocks change. */
function nextDay(midnight: number, timeZone: string): number {
  return toUniversal(midnight + zoneShift(timeZone, midnight) + dayMs, timeZone);
}
