/** Times as documents carry them. */

/** ISO 8601 in UTC with a four-digit year, as both stores read it. */
const iso = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

/** Documents of one batch share their receive time, and often their timestamp. */
let lastTime = '';

export function isTime(text: string): boolean {
  if (text === lastTime) return true;
  if (!iso.test(text)) return false;
  if (text.charCodeAt(8) >= 0x32 && !isDay(text)) return false;
  lastTime = text;
  return true;
}

/** Only days from the 20th on need the calendar. */
function isDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  return day <= 28 || new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, day)).getUTCDate() === day;
}

/** The same time in that form; undefined when it is none, or outside of the years 0 to 9999. */
export function normalizeTime(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return isTime(text) ? text : undefined;
}
