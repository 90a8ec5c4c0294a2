/** Connections that stopped reading, and when they may go on. */

/** How often connections that stopped because of others are looked at. */
const checkEveryMs = 20;

export interface Waiting {
  /** True when it reads again. */
  tryResume(): boolean;
}

export interface Backpressure {
  add(waiting: Waiting): void;
  remove(waiting: Waiting): void;
  stop(): void;
}

/** A timer runs only while something waits. */
export function createBackpressure(): Backpressure {
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const check = () => {
    for (const one of waiting) if (one.tryResume()) waiting.delete(one);
    if (waiting.size === 0) stop();
  };
  return {
    add: (one) => {
      waiting.add(one);
      timer ??= setInterval(check, checkEveryMs);
    },
    remove: (one) => {
      waiting.delete(one);
      if (waiting.size === 0) stop();
    },
    stop: () => {
      waiting.clear();
      stop();
    },
  };
}
