/**
 * Time ranges in words: `last five minutes`, `today`, `yesterday`, `last week`, `this month`, `2 hours ago`, `4 hours
 * ago to 2 hours ago`, `monday to friday`... in English. A point alone (`2 hours ago`) reaches to now; days, weeks,
 * months and years begin at midnight of the time zone, which is also that of written times without one.
 */
import { at } from '../../../../core/at.js';
import { parseTime } from '../../../../core/time/times.js';
import { parseSpoken, type RangePart } from './spoken-times.js';
import { startOf, toUniversal } from './time-zones.js';

export interface ResolvedRange {
  /** Milliseconds since the epoch, half-open; undefined: open. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

const numbers: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'zero',
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
    'fifteen',
    'twenty',
    'thirty',
    'sixty',
  ].map((word, index) => [word, [15, 20, 30, 60][index - 13] ?? index]),
);
/** A day when clocks go forward, with room to spare. */
const leastDay = 20 * 3_600_000;
const fixed: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000 };
const units = '(second|minute|hour|day|week|month|year)s?';
const amount = `(\\d{1,6}|${Object.keys(numbers).join('|')}|an?)`;
const patterns = {
  lastMany: new RegExp(`^(?:the )?(?:last|past) ${amount} ${units}$`),
  last: new RegExp(`^(?:the )?(?:last|past) ${units}$`),
  current: new RegExp(`^this ${units}$`),
  ago: new RegExp(`^${amount} ${units} ago$`),
};

export function parseKeyword(text: string, timeZone: string, now: number): ResolvedRange | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/^from /, '');
  const parts = words.split(/ (?:to|until|till|-) /);
  if (parts.length > 2) return undefined;
  const [begin = '', end] = parts;
  const first = single(begin, timeZone, now) ?? parseSpoken(begin, timeZone, now);
  if (first === undefined) return undefined;
  const second =
    end === undefined ? undefined : (single(end, timeZone, now) ?? parseSpoken(end, timeZone, now, first.from));
  if (end !== undefined && second === undefined) return undefined;
  const range = { from: first.from, to: second === undefined ? first.to : (second.end ?? second.to) };
  return range.from !== undefined && range.to !== undefined && range.from > range.to ? undefined : range;
}

function single(text: string, timeZone: string, now: number): RangePart | undefined {
  if (text === 'now') return { from: now, to: now };
  if (text === 'today') return { from: startOf('day', timeZone, now, 0), to: now };
  if (text === 'yesterday') return { from: startOf('day', timeZone, now, -1), to: startOf('day', timeZone, now, 0) };
  const many = patterns.lastMany.exec(text);
  if (many !== null) return { from: back(count(many[1]), at(many, 2), now), to: now };
  const last = patterns.last.exec(text)?.[1];
  if (last !== undefined) return { from: back(1, last, now), to: now };
  const current = patterns.current.exec(text)?.[1];
  if (current !== undefined)
    return {
      from: fixed[current] === undefined ? startOf(current, timeZone, now, 0) : now - (now % fixed[current]),
      to: now,
    };
  const ago = patterns.ago.exec(text);
  if (ago !== null) {
    const from = back(count(ago[1]), at(ago, 2), now);
    return { from, to: now, end: from };
  }
  const point = parseTime(
    text
      .replace(/^(\S+) (\d\d:)/, '$1T$2')
      .toUpperCase()
      .replace('NOW', 'now'),
    now,
    (local) => toUniversal(local, timeZone),
  );
  if (point === undefined) return undefined;
  const to = point.last + 1;
  return { from: point.first, to, end: to - point.first < leastDay ? point.first : to };
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
