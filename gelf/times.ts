/** Timestamps as senders write them, to milliseconds since the epoch; and milliseconds to ISO 8601. */

interface ReadTime {
  readonly milliseconds: number;
  /** What is worth saying about how it was read; undefined for seconds and for ISO 8601 with a zone. */
  readonly note: string | undefined;
  /** False when the original says more than milliseconds can hold. */
  readonly exact: boolean;
}

/** The last millisecond of the year 9999: later ones do not fit the date format of the stores. */
const lastMillisecond = 253_402_300_799_999;
/**
 * The first second after it. A larger number must be in a smaller unit: as milliseconds it begins in 1978, and so on.
 */
const endOfSeconds = 253_402_300_800;
const units = [
  { below: endOfSeconds * 1e3, divisor: 1, name: 'milliseconds' },
  { below: endOfSeconds * 1e6, divisor: 1e3, name: 'microseconds' },
  { below: endOfSeconds * 1e9, divisor: 1e6, name: 'nanoseconds' },
] as const;

/**
 * Unix seconds, rounded half up to the millisecond; undefined when the number is not seconds of the years 1970 to 9999.
 */
export function fromSeconds(seconds: number): number | undefined {
  if (!(seconds > 0 && seconds < endOfSeconds)) return undefined;
  const milliseconds = Math.round(seconds * 1000);
  return milliseconds <= lastMillisecond ? milliseconds : undefined;
}

export function readTime(value: number | string): ReadTime | undefined {
  if (typeof value === 'number') return readNumber(value);
  const text = value.trim();
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? readNumber(Number(text)) : readIso(text);
}

function readNumber(value: number): ReadTime | undefined {
  const seconds = fromSeconds(value);
  if (seconds !== undefined) return { milliseconds: seconds, note: undefined, exact: true };
  if (!(value >= endOfSeconds)) return undefined;
  const unit = units.find(({ below }) => value < below);
  if (unit === undefined) return undefined;
  const milliseconds = Math.round(value / unit.divisor);
  return milliseconds <= lastMillisecond
    ? { milliseconds, note: `read as ${unit.name}`, exact: unit.divisor === 1 && Number.isInteger(value) }
    : undefined;
}

/**
 * ISO 8601 date and time: `2026-01-02T03:04:05.678Z`, also with a space, a comma, an offset, more digits, or without a
 * zone (taken as UTC).
 */
const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(?:([Zz])|([+-])(\d\d):?(\d\d)?)?$/;

function readIso(text: string): ReadTime | undefined {
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const utc = new Date(0);
  utc.setUTCFullYear(year, month - 1, day);
  if (utc.getUTCMonth() !== month - 1 || utc.getUTCDate() !== day || hour > 24 || minute > 59 || second > 60)
    return undefined;
  const fraction = match[7] ?? '';
  const [zulu, sign, offsetHour, offsetMinute] = [match[8], match[9], Number(match[10] ?? 0), Number(match[11] ?? 0)];
  const offset = sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60_000;
  const milliseconds =
    utc.setUTCHours(hour, minute, second, 0) + Math.round(Number(`0.${fraction || '0'}`) * 1000) - offset;
  if (milliseconds <= 0 || milliseconds > lastMillisecond) return undefined;
  const note = zulu === undefined && sign === undefined ? 'read as UTC' : undefined;
  return { milliseconds, note, exact: /^\d{0,3}0*$/.test(fraction) };
}

const millisecondsPerDay = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** Milliseconds as `2026-01-02T03:04:05.678Z`; remembers the last second and day, since neighbours share them. */
export function createIsoFormatter(): (milliseconds: number) => string {
  let lastSecond = Number.NaN;
  let lastDay = Number.NaN;
  let date = '';
  let prefix = '';
  return (milliseconds) => {
    const second = Math.floor(milliseconds / 1000);
    if (second !== lastSecond) {
      const day = Math.floor(milliseconds / millisecondsPerDay);
      if (day !== lastDay) {
        date = new Date(day * millisecondsPerDay).toISOString().slice(0, 11);
        lastDay = day;
      }
      const time = second - day * 86_400;
      prefix = `${date}${twoDigits[Math.floor(time / 3600)]}:${twoDigits[Math.floor(time / 60) % 60]}:${twoDigits[time % 60]}.`;
      lastSecond = second;
    }
    const rest = milliseconds - second * 1000;
    return rest < 10 ? `${prefix}00${rest}Z` : rest < 100 ? `${prefix}0${rest}Z` : `${prefix}${rest}Z`;
  };
}
