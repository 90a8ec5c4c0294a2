/** Times as the documents carry them: ISO 8601 UTC with milliseconds, `2026-11-21T13:00:00.000Z`. */

const dayCache = new Map<string, number>();
/** Days in the cache; log traffic touches a handful. */
const maxCachedDays = 512;

/**
 * Milliseconds since the epoch when the text is in exactly that form, so that `formatTime` gives the same text; else
 * undefined.
 */
export function parseCanonicalTime(text: string): number | undefined {
  if (text.length !== 24 || text.charCodeAt(10) !== 84 || text.charCodeAt(23) !== 90) return undefined;
  if (text.charCodeAt(13) !== 58 || text.charCodeAt(16) !== 58 || text.charCodeAt(19) !== 46) return undefined;
  const day = startOfDay(text.slice(0, 10));
  const hours = twoDigits(text, 11);
  const minutes = twoDigits(text, 14);
  const seconds = twoDigits(text, 17);
  const hundredths = twoDigits(text, 20);
  const last = text.charCodeAt(22) - 48;
  const valid =
    hours >= 0 &&
    hours < 24 &&
    minutes >= 0 &&
    minutes < 60 &&
    seconds >= 0 &&
    seconds < 60 &&
    hundredths >= 0 &&
    last >= 0 &&
    last < 10;
  if (day === undefined || !valid) return undefined;
  return day + ((hours * 60 + minutes) * 60 + seconds) * 1000 + hundredths * 10 + last;
}

export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Any value of a time field as milliseconds, as the query rules read it. */
export function readTime(value: unknown): number | undefined {
  const time =
    typeof value === 'string'
      ? Date.parse(value)
      : typeof value === 'number' || typeof value === 'boolean'
        ? Number(value)
        : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens < 10 && ones >= 0 && ones < 10 ? tens * 10 + ones : -1;
}

function startOfDay(date: string): number | undefined {
  const known = dayCache.get(date);
  if (known !== undefined) return known;
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined;
  const start = Date.parse(`${date}T00:00:00.000Z`);
  if (Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== date) return undefined;
  if (dayCache.size >= maxCachedDays) dayCache.clear();
  dayCache.set(date, start);
  return start;
}
