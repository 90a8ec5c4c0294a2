/**
 * Points in time as people write them: ISO 8601 of any precision (UTC when no zone is given; a space may stand for the
 * T), epoch seconds or milliseconds, and date math as search engines write it: `now-5m`, `now/d`, `2026-01-02||+1M/d`.
 */

/**
 * Milliseconds since the epoch: the first and the last one that the text covers, so that `2026-01-02` is a whole day.
 */
export interface TimeSpan {
  readonly first: number;
  readonly last: number;
}

const isoTime =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?)?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;
const mathStep = /([+-])(\d{1,9})([yMwdhHms])|\/([yMwdhHms])/y;
const factors: Readonly<Record<string, number>> = {
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  H: 3_600_000,
  m: 60_000,
  s: 1000,
};
/** Below this a plain number is seconds (until the year 5138), from it on milliseconds (since 1973). */
const firstMilliseconds = 1e11;
/** What JavaScript's Date can hold. */
const lastTime = 8.64e15;

export const timeForms =
  'ISO 8601 (2026-01-02, 2026-01-02T03:04:05.678Z, "2026-01-02 03:04:05"), epoch seconds or milliseconds, now, now-5m, now/d';

/** `toUniversal`: of times without a zone, given as if they were UTC (which they are without it). */
export function parseTime(
  text: string,
  now: number,
  toUniversal: (local: number) => number = (local) => local,
): TimeSpan | undefined {
  const trimmed = text.trim();
  const span = trimmed.startsWith('now')
    ? mathOver({ first: now, last: now }, trimmed.slice(3))
    : parseFixed(trimmed, toUniversal);
  // What is beyond is NaN already where calendars were asked.
  if (span === undefined || !(Math.abs(span.first) <= lastTime && Math.abs(span.last) <= lastTime)) return undefined;
  return span;
}

function parseFixed(text: string, toUniversal: (local: number) => number): TimeSpan | undefined {
  if (/^\d{5,}(?:\.\d+)?$/.test(text)) {
    const number = Number(text);
    const time = Math.round(number < firstMilliseconds ? number * 1000 : number);
    return { first: time, last: time };
  }
  const cut = text.indexOf('||');
  const base = parseIso(cut < 0 ? text : text.slice(0, cut), toUniversal);
  return base === undefined || cut < 0 ? base : mathOver({ first: base.first, last: base.first }, text.slice(cut + 2));
}

function parseIso(text: string, toUniversal: (local: number) => number): TimeSpan | undefined {
  const match = isoTime.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const numbers = [
    Number(year),
    Number(month ?? 1) - 1,
    Number(day ?? 1),
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
    Number((fraction ?? '0').padEnd(3, '0').slice(0, 3)),
  ] as const;
  const local = utc(numbers);
  const read = new Date(local);
  const fits =
    read.getUTCMonth() === numbers[1] &&
    read.getUTCDate() === numbers[2] &&
    numbers[3] < 24 &&
    numbers[4] < 60 &&
    numbers[5] < 60;
  if (!fits) return undefined;
  const unit =
    month === undefined
      ? 'y'
      : day === undefined
        ? 'M'
        : hour === undefined
          ? 'd'
          : minute === undefined
            ? 'h'
            : second === undefined
              ? 'm'
              : fraction === undefined
                ? 's'
                : undefined;
  const shifted = zone === undefined ? toUniversal : (time: number): number => time - zoneShift(zone);
  const last = unit === undefined ? local : step(local, unit, 1) - 1;
  return { first: shifted(local), last: shifted(last) };
}

/** Year, month from 0, day, hour, minute, second, millisecond; what is left out is the first. */
type Parts = readonly [year: number, month: number, day: number, ...time: number[]];

function utc([year, month, day, hour = 0, minute = 0, second = 0, millisecond = 0]: Parts): number {
  const date = new Date(Date.UTC(2000, month, day, hour, minute, second, millisecond));
  // Date.UTC takes years under 100 for those of the twentieth century.
  date.setUTCFullYear(year, month, day);
  return date.getTime();
}

function zoneShift(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

function mathOver(start: TimeSpan, steps: string): TimeSpan | undefined {
  let { first, last } = start;
  let at = 0;
  while (at < steps.length) {
    mathStep.lastIndex = at;
    const match = mathStep.exec(steps);
    if (match === null) return undefined;
    const [whole, sign, amount, unit, round] = match;
    if (round !== undefined) {
      first = floorTo(first, round);
      last = step(first, round, 1) - 1;
    } else if (unit !== undefined) {
      const by = sign === '-' ? -Number(amount) : Number(amount);
      first = step(first, unit, by);
      last = step(last, unit, by);
    }
    if (!Number.isFinite(first) || !Number.isFinite(last)) return undefined;
    at += whole.length;
  }
  return { first, last };
}

function step(time: number, unit: string, by: number): number {
  const factor = factors[unit];
  if (factor !== undefined) return time + by * factor;
  const date = new Date(time);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() + (unit === 'y' ? by * 12 : by);
  const year = Math.floor(months / 12);
  const month = months - year * 12;
  const days = new Date(utc([year, month + 1, 0])).getUTCDate();
  return utc([year, month, Math.min(date.getUTCDate(), days)]) + (time - floorTo(time, 'd'));
}

function floorTo(time: number, unit: string): number {
  const date = new Date(time);
  if (unit === 'y') return utc([date.getUTCFullYear(), 0, 1]);
  if (unit === 'M') return utc([date.getUTCFullYear(), date.getUTCMonth(), 1]);
  // Weeks begin on Monday; the epoch was a Thursday.
  const shift = unit === 'w' ? 3 * 86_400_000 : 0;
  const factor = factors[unit] ?? 1;
  return Math.floor((time + shift) / factor) * factor - shift;
}

/** Milliseconds of the units that are always as long. */
export const unitMs = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
} as const;
/** 5 January 1970, where weeks are counted from. */
export const firstMonday = Date.UTC(1970, 0, 5);
