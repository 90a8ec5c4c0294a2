/** Waiting for a slow reader. */
import type { Writable } from 'node:stream';

/** Resolves when what was written has been taken, when the stream closes or has closed, and when the signal comes. */
export function drained(stream: Writable, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    stream.once('drain', done).once('close', done);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true || stream.destroyed || !stream.writableNeedDrain) done();
  });
}
