/**
 * Time ranges in words: `last five minutes`, `today`, `yesterday`, `last week`, `this month`, `2 hours ago`, `monday to friday`... in English. A point
 * alone (`2 hours ago`) reaches to now; days, weeks, months and years begin at midnight of the time zone.
 */
import { parseTime } from '../../../search/times.js';

export interface ResolvedRange {
  /** Milliseconds since the epoch, half-open; undefined: open. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

const numbers: Readonly<Record<string, number>> = Object.fromEntries(['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve', 'fifteen', 'twenty', 'thirty', 'sixty'].map((word, at) => [word, [15, 20, 30, 60][at - 13] ?? at]));
const fixed: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000 };
const units = '(second|minute|hour|day|week|month|year)s?';
const amount = `(\\d{1,6}|${Object.keys(numbers).join('|')}|an?)`;
const patterns = {
  lastMany: new RegExp(`^(?:the )?(?:last|past) ${amount} ${units}$`), last: new RegExp(`^(?:the )?(?:last|past) ${units}$`), current: new RegExp(`^this ${units}$`), ago: new RegExp(`^${amount} ${units} ago$`),
};

export function parseKeyword(text: string, timeZone: string, now: number): ResolvedRange | undefined {
  if (!isTimeZone(timeZone)) return undefined;
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const parts = words.replace(/^from /, '').split(/ (?:to|until|till|-) /);
  if (parts.length > 2) return undefined;
  const [first, second] = parts.map((part) => single(part, timeZone, now));
  if (first === undefined || (parts.length === 2 && second === undefined)) return undefined;
  const range = { from: first.from, to: (second ?? first).to };
  return range.from !== undefined && range.to !== undefined && range.from > range.to ? undefined : range;
}

function single(text: string, timeZone: string, now: number): ResolvedRange | undefined {
  if (text === 'now') return { from: now, to: now };
  if (text === 'today') return { from: startOf('day', timeZone, now, 0), to: now };
  if (text === 'yesterday') return { from: startOf('day', timeZone, now, -1), to: startOf('day', timeZone, now, 0) };
  const many = patterns.lastMany.exec(text);
  if (many !== null) return { from: back(count(many[1]), many[2] as string, now), to: now };
  const last = patterns.last.exec(text)?.[1];
  if (last !== undefined) return { from: back(1, last, now), to: now };
  const current = patterns.current.exec(text)?.[1];
  if (current !== undefined) return { from: fixed[current] === undefined ? startOf(current, timeZone, now, 0) : now - (now % fixed[current]), to: now };
  const ago = patterns.ago.exec(text);
  if (ago !== null) return { from: back(count(ago[1]), ago[2] as string, now), to: now };
  const point = parseTime(text.replace(/^(\S+) (\d\d:)/, '$1T$2').toUpperCase().replace('NOW', 'now'), now);
  return point === undefined ? undefined : { from: point.first, to: point.last + 1 };
}

function count(word: string | undefined): number {
  if (word === 'a' || word === 'an') return 1;
  return numbers[word ?? ''] ?? Number(word);
}

function back(many: number, unit: string, now: number): number {
  const step = fixed[unit] ?? { day: 86_400_000, week: 604_800_000 }[unit];
  if (step !== undefined) return now - many * step;
  const date = new Date(now);
  date.setUTCMonth(date.getUTCMonth() - many * (unit === 'year' ? 12 : 1));
  return date.getTime();
}

/** Midnight at the begin of the day, week (Monday), month or year that is `by` of them away. */
function startOf(unit: string, timeZone: string, now: number, by: number): number {
  const shift = zoneShift(timeZone, now);
  const local = new Date(now + shift);
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const start = { day: [year, month, day + by], week: [year, month, day - ((local.getUTCDay() + 6) % 7) + 7 * by], month: [year, month + by, 1], year: [year + by, 0, 1] }[unit] as [number, number, number];
  const midnight = Date.UTC(...start);
  return midnight - zoneShift(timeZone, midnight - shift);
}

/** Milliseconds that clocks of the zone are ahead of UTC. */
export function zoneShift(timeZone: string, time: number): number {
  const parts = Object.fromEntries(new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' }).formatToParts(time).map(({ type, value }) => [type, Number(value)])) as Record<string, number>;
  const local = Date.UTC(parts['year'] ?? 0, (parts['month'] ?? 1) - 1, parts['day'] ?? 1, parts['hour'] ?? 0, parts['minute'] ?? 0, parts['second'] ?? 0);
  return local - Math.floor(time / 1000) * 1000;
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
