/** When a worker that ended is started again, and when that is given up. Pure: no clock, no processes. */

/** The first start again comes soon: with one UDP receiver, nobody reads its port meanwhile. */
const firstDelayMs = 200;
const longestDelayMs = 10_000;
/** A worker that ran for so long did not die of its start. */
const soundMs = 30_000;
/** With the delays between them, about ten seconds. */
const mostEarlyDeaths = 6;

export interface Restarts {
  /** Milliseconds until the worker is to be started again; undefined: give up. */
  afterDeath(livedMs: number): number | undefined;
}

/** For one worker's place. */
export function createRestarts(): Restarts {
  let early = 0;
  return {
    afterDeath(livedMs) {
      early = livedMs >= soundMs ? 1 : early + 1;
      if (early > mostEarlyDeaths) return undefined;
      return Math.min(longestDelayMs, firstDelayMs * 2 ** (early - 1));
    },
  };
}
