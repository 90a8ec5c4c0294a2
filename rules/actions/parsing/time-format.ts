/**
 * Reads times written in a format of letters: yyyy yy MM MMM dd d HH H hh h mm ss S.. (fraction) a (AM, PM) Z XXX
 * (offset or Z), text in single quotes, other characters as they are; a blank stands for one or more blanks.
 */
import { zoneClock } from '../../../core/time/zone-clock.js';
import { at } from '../../../core/at.js';
export type TimeReader = (text: string) => number | undefined;

interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  afternoon: boolean | undefined;
  /** Minutes east of Greenwich; undefined: the zone of the setting. */
  offset: number | undefined;
}

type Assign = (parts: Parts, text: string) => void;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const letters: Readonly<Record<string, readonly [pattern: string, assign: Assign]>> = {
  yyyy: [
    '(\\d{4})',
    (parts, text) => {
      parts.year = Number(text);
    },
  ],
  yy: [
    '(\\d{2})',
    (parts, text) => {
      parts.year = 2000 + Number(text);
    },
  ],
  MMM: [
    '([A-Za-z]{3})[a-z]*',
    (parts, text) => {
      parts.month = months.indexOf(text.toLowerCase()) + 1;
    },
  ],
  MM: [
    '(\\d{2})',
    (parts, text) => {
      parts.month = Number(text);
    },
  ],
  M: [
    '(\\d{1,2})',
    (parts, text) => {
      parts.month = Number(text);
    },
  ],
  dd: [
    '(\\d{2})',
    (parts, text) => {
      parts.day = Number(text);
    },
  ],
  d: [
    '(\\d{1,2})',
    (parts, text) => {
      parts.day = Number(text);
    },
  ],
  HH: [
    '(\\d{2})',
    (parts, text) => {
      parts.hour = Number(text);
    },
  ],
  H: [
    '(\\d{1,2})',
    (parts, text) => {
      parts.hour = Number(text);
    },
  ],
  hh: [
    '(\\d{2})',
    (parts, text) => {
      parts.hour = Number(text);
    },
  ],
  h: [
    '(\\d{1,2})',
    (parts, text) => {
      parts.hour = Number(text);
    },
  ],
  mm: [
    '(\\d{2})',
    (parts, text) => {
      parts.minute = Number(text);
    },
  ],
  ss: [
    '(\\d{2})',
    (parts, text) => {
      parts.second = Number(text);
    },
  ],
  a: [
    '([AaPp][Mm])',
    (parts, text) => {
      parts.afternoon = text.toLowerCase() === 'pm';
    },
  ],
  Z: ['(Z|[+-]\\d{2}:?\\d{2})', assignOffset],
  XXX: ['(Z|[+-]\\d{2}:?\\d{2})', assignOffset],
};

function assignOffset(parts: Parts, text: string): void {
  const digits = text.replace(':', '');
  parts.offset =
    text === 'Z'
      ? 0
      : (digits.startsWith('-') ? -1 : 1) * (Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5)));
}

const assignFraction: Assign = (parts, text) => {
  parts.millisecond = Math.floor(Number(`0.${text}`) * 1000 + 1e-6);
};
const token = /'[^']*'|yyyy|yy|MMM|MM|M|dd|d|HH|H|hh|h|mm|ss|S+|XXX|Z|a|[A-Za-z]|\s+|[^A-Za-z\s]/g;

/** Every piece of the expression has a fixed or bounded length, so it is linear. undefined: unknown letters. */
export function timeReader(format: string, zone: ZoneOffset): TimeReader | undefined {
  const assigns: Assign[] = [];
  let expression = '';
  for (const [piece] of format.matchAll(token)) {
    const known = letters[piece];
    if (known !== undefined) {
      expression += known[0];
      assigns.push(known[1]);
    } else if (piece.startsWith('S')) {
      expression += '(\\d{1,9})';
      assigns.push(assignFraction);
    } else if (/^[A-Za-z]/.test(piece)) return undefined;
    else if (piece.startsWith("'")) expression += escaped(piece.slice(1, -1));
    else expression += /^\s/.test(piece) ? '[ \\t]{1,8}' : escaped(piece);
  }
  const matcher = new RegExp(`^${expression}$`);
  return (text) => {
    const match = matcher.exec(text);
    return match === null ? undefined : toTime(match, assigns, zone);
  };
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

function toTime(match: RegExpExecArray, assigns: readonly Assign[], zone: ZoneOffset): number | undefined {
  const parts: Parts = {
    year: new Date().getUTCFullYear(),
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    millisecond: 0,
    afternoon: undefined,
    offset: undefined,
  };
  for (const [place, assign] of assigns.entries()) assign(parts, at(match, place + 1));
  if (parts.afternoon !== undefined) parts.hour = (parts.hour % 12) + (parts.afternoon ? 12 : 0);
  const { year, month, day, hour, minute, second, millisecond } = parts;
  const wall = Date.UTC(year, month - 1, day, hour, minute, Math.min(second, 59), millisecond);
  const check = new Date(wall);
  if (check.getUTCMonth() !== month - 1 || check.getUTCDate() !== day || hour > 23 || minute > 59 || second > 60)
    return undefined;
  return wall - (parts.offset ?? zone(wall)) * 60_000;
}

/** Minutes east of Greenwich at a wall-clock time. */
export type ZoneOffset = (wall: number) => number;

/** `UTC`, `+02:00` or an IANA name; undefined when it is none of them. */
export function zoneOffset(name: string): ZoneOffset | undefined {
  const fixed = /^([+-])(\d{2}):?(\d{2})$/.exec(name);
  if (fixed !== null) {
    const minutes = (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3]));
    return () => minutes;
  }
  if (name === 'UTC') return () => 0;
  try {
    const format = zoneClock(name);
    const offsetAt = (instant: number): number => {
      const parts = Object.fromEntries(format.formatToParts(instant).map((part) => [part.type, Number(part.value)]));
      return Math.round(
        (Date.UTC(
          parts['year'] ?? 0,
          (parts['month'] ?? 1) - 1,
          parts['day'],
          parts['hour'],
          parts['minute'],
          parts['second'],
        ) -
          instant) /
          60_000,
      );
    };
    return (wall) => offsetAt(wall - offsetAt(wall) * 60_000);
  } catch {
    return undefined;
  }
}
