/**
 * A fair scheduler: so many searches run at once, the others wait. Whoever asks takes turns, so that nobody who asks
 * much delays the others.
 */
import { searchErrors } from '../errors.js';

export interface FairQueue {
  /**
   * Resolves with the function that ends the turn. Rejects with SEARCH_QUEUE_FULL at once, or with the signal's reason.
   */
  enter(key: string, signal: AbortSignal): Promise<() => void>;
  readonly running: () => number;
  readonly waiting: () => number;
}

interface Waiting {
  readonly resolve: (leave: () => void) => void;
}

export function createFairQueue(places: number, maxWaiting: number): FairQueue {
  /** Waiting searches of each key, in the order of their turns. A key that was served goes to the end. */
  const lines = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;
  const leave = (): void => {
    const [key, line] = lines.entries().next().value ?? [];
    const next = line?.shift();
    if (key === undefined || line === undefined || next === undefined) {
      running -= 1;
      return;
    }
    waiting -= 1;
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    next.resolve(once(leave));
  };
  const remove = (key: string, entry: Waiting): void => {
    const line = lines.get(key);
    const at = line?.indexOf(entry) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    waiting -= 1;
    if (line.length === 0) lines.delete(key);
  };
  return {
    enter: (key, signal) => {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (running < places) {
        running += 1;
        return Promise.resolve(once(leave));
      }
      if (waiting >= maxWaiting)
        return Promise.reject(
          searchErrors.create('SEARCH_QUEUE_FULL', {
            got: `${waiting} waiting`,
            allowed: `${maxWaiting} (setting search.queue_length)`,
          }),
        );
      return new Promise((resolve, reject) => {
        const cancelled = (): void => {
          remove(key, entry);
          reject(signal.reason as Error);
        };
        const entry: Waiting = {
          resolve: (done) => {
            signal.removeEventListener('abort', cancelled);
            resolve(done);
          },
        };
        waiting += 1;
        lines.set(key, [...(lines.get(key) ?? []), entry]);
        signal.addEventListener('abort', cancelled, { once: true });
      });
    },
    running: () => running,
    waiting: () => waiting,
  };
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}
