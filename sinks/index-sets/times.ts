/** Times as documents carry them. */

/** ISO 8601 in UTC with a four-digit year, as both stores read it. */
const iso = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

/**
 * `2026-11-21T10:00:`, of the last two times that were checked whole: nearly all that follow begin like one, the
 * sender's time and the receive time.
 */
let lastMinute = 'none';
let minuteBefore = 'none';
const minuteLength = 17;
/** Length of `2026-11-21T10:00:00.000Z`, the form that decoding writes. */
const usualLength = 24;

export function isTime(text: string): boolean {
  if (text.length === usualLength && (text.startsWith(lastMinute) || text.startsWith(minuteBefore)))
    return isSecond(text);
  if (!iso.test(text) || !isDay(text)) return false;
  minuteBefore = lastMinute;
  lastMinute = text.slice(0, minuteLength);
  return true;
}

/** `00.000Z` after the minute. */
function isSecond(text: string): boolean {
  const tens = text.charCodeAt(minuteLength);
  return (
    tens >= 0x30 &&
    tens <= 0x35 &&
    isDigit(text, 18) &&
    text.charCodeAt(19) === 0x2e &&
    isDigit(text, 20) &&
    isDigit(text, 21) &&
    isDigit(text, 22) &&
    text.charCodeAt(23) === 0x5a
  );
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** Only days from the 29th on need the calendar. */
function isDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return (
    day <= 28 || new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, day)).getUTCDate() === day
  );
}

/** The same time in that form; undefined when it is none, or outside of the years 0 to 9999. */
export function normalizeTime(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return isTime(text) ? text : undefined;
}
