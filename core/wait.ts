/** Waiting that a stop ends at once. */

/** Resolves after the time, or at once when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Delays that double from `first` to `most`, each with up to a quarter of jitter. */
export function createBackOff(first: number, most: number): () => number {
  let next = first;
  return () => {
    const delay = next * (1 + Math.random() / 4);
    next = Math.min(next * 2, most);
    return delay;
  };
}
