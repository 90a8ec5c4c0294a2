import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Log } from '../../core/log.js';

export interface CapturedLog {
  readonly log: Log;
  /** Lines so far, from level info on. */
  readonly logged: Record<string, unknown>[];
}

/** A log whose lines a test reads. */
export function captureLog(): CapturedLog {
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    new Writable({
      write: (line: Buffer, _, done) => {
        logged.push(JSON.parse(line.toString()) as Record<string, unknown>);
        done();
      },
    }),
  );
  return { log, logged };
}
