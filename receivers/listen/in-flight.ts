/**
 * Counts what was handed over and is not settled yet, over connections that may be gone already; a stop waits for it.
 */
export interface InFlight {
  enter(): void;
  leave(): void;
  /** Resolves when nothing is in flight. */
  drained(): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let waiters: (() => void)[] = [];
  return {
    enter: () => {
      count += 1;
    },
    leave: () => {
      count -= 1;
      if (count > 0) return;
      const resolved = waiters;
      waiters = [];
      for (const resolve of resolved) resolve();
    },
    drained: () =>
      count === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            waiters.push(resolve);
          }),
  };
}
