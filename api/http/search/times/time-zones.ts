/** Clocks of time zones, named as IANA does. */
import { zoneClock } from '../../../../core/time/zone-clock.js';

/** Midnight at the begin of the day, week (Monday), month or year that is `by` of them away. */
export function startOf(unit: string, timeZone: string, now: number, by: number): number {
  const shift = zoneShift(timeZone, now);
  const local = new Date(now + shift);
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const start = {
    day: [year, month, day + by],
    week: [year, month, day - ((local.getUTCDay() + 6) % 7) + 7 * by],
    month: [year, month + by, 1],
    year: [year + by, 0, 1],
  }[unit] as [number, number, number];
  return toUniversal(Date.UTC(...start), timeZone);
}

/** From what clocks of the zone show, written as if it were UTC. */
export function toUniversal(local: number, timeZone: string): number {
  return local - zoneShift(timeZone, local - zoneShift(timeZone, local));
}

/** Milliseconds that clocks of the zone are ahead of UTC. */
export function zoneShift(timeZone: string, time: number): number {
  const parts = Object.fromEntries(
    zoneClock(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const local = Date.UTC(
    parts['year'] ?? 0,
    (parts['month'] ?? 1) - 1,
    parts['day'] ?? 1,
    parts['hour'] ?? 0,
    parts['minute'] ?? 0,
    parts['second'] ?? 0,
  );
  return local - Math.floor(time / 1000) * 1000;
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
