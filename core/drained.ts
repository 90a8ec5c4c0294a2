/** Waiting for a slow reader. */
import type { Writable } from 'node:stream';

/** Standard output fails without closing. */
const events = ['drain', 'close', 'error'] as const;

/** Resolves when what was written has been taken, when the stream fails or closes or has closed, and when the signal comes. */
export function drained(stream: Writable, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) stream.off(event, done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    for (const event of events) stream.once(event, done);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true || stream.destroyed || !stream.writableNeedDrain) done();
  });
}
