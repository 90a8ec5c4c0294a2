/** The one semaphore of the program, on p-limit: a limited number of works at a time, the others wait in order. */
import pLimit from 'p-limit';

export interface Semaphore {
  /** Runs the work when a place is free. Rejects with the signal's reason when that aborts before the work begins. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Works that wait for a place. One whose signal aborted is counted until its place would have come. */
  readonly waiting: () => number;
}

export function createSemaphore(places: number): Semaphore {
  const limit = pLimit(places);
  return {
    run: (work, signal) =>
      signal === undefined ? limit(work) : untilAborted((begun) => limit(() => begun(work)), signal),
    // p-limit starts works in a later microtask: until then they stand in its queue although their place is free.
    waiting: () => Math.max(0, limit.activeCount + limit.pendingCount - places),
  };
}

type Begin<Result> = (work: () => Promise<Result>) => Promise<Result>;

/** Rejects at once when the signal aborts while the work still waits; its turn is then passed on unused. */
function untilAborted<Result>(
  enqueue: (begin: Begin<Result>) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => reject(signal.reason as Error);
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel, { once: true });
    enqueue(async (work) => {
      signal.throwIfAborted();
      signal.removeEventListener('abort', cancel);
      return work();
    }).then(resolve, reject);
  });
}
