/** Lets a few through at once; the others wait in order, and only so many of them. */
import { storeErrors } from './errors.js';

export interface Gate {
  /** Resolves with the call that makes room for the next. */
  enter(): Promise<() => void>;
}

/** Past `maxWaiting` it rejects with STORE_OVERLOADED. */
export function createGate(places: number, maxWaiting: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    enter: async () => {
      if (free > 0) {
        free -= 1;
        return leave;
      }
      if (waiting.length >= maxWaiting)
        throw storeErrors.create('STORE_OVERLOADED', { got: `${maxWaiting} requests waiting` });
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
      return leave;
    },
  };
}
