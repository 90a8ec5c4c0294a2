/** Structured logs (pino, JSON lines on standard output) and a rate limit for lines that many messages may cause. */
import { destination, pino, type Logger } from 'pino';
import type { RecentProblems } from './recent-problems.js';

export type Log = Logger;
type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** `problems` notes what is warned of. */
export function createLog(level: LogLevel, file?: string, problems?: RecentProblems): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(problems === undefined ? {} : { hooks: problems.hooks }),
    },
    destination({ dest: file ?? 1, sync: true }),
  );
}

export const silentLog: Log = pino({ level: 'silent' });

/**
 * Returns true at most `perMinute` times a minute for each key; `suppressed` tells how many were held back since the
 * last true. The table holds 1,000 keys at most: past that, all further keys share one allowance.
 */
export function createRateLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
): (key: string) => { allowed: boolean; suppressed: number } {
  const maxKeys = 1000;
  const windows = new Map<string, { start: number; used: number; suppressed: number }>();
  return (key) => {
    const slot = windows.has(key) || windows.size < maxKeys ? key : '';
    const time = now();
    let window = windows.get(slot);
    if (window === undefined) {
      window = { start: time, used: 0, suppressed: 0 };
      windows.set(slot, window);
    }
    if (time - window.start >= 60_000) {
      window.start = time;
      window.used = 0;
    }
    if (window.used >= perMinute) {
      window.suppressed += 1;
      return { allowed: false, suppressed: 0 };
    }
    window.used += 1;
    const suppressed = window.suppressed;
    window.suppressed = 0;
    return { allowed: true, suppressed };
  };
}
