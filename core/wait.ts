import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the time, or at once when the signal aborts. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** Ends of waiting for a slow reader; standard output fails without closing. */
const streamEvents = ['drain', 'close', 'error'] as const;

/**
 * Resolves when what was written has been taken, when the stream fails or closes or has closed, and when the signal
 * comes.
 */
export function drained(stream: Writable, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of streamEvents) stream.off(event, done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    for (const event of streamEvents) stream.once(event, done);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true || stream.destroyed || !stream.writableNeedDrain) done();
  });
}
