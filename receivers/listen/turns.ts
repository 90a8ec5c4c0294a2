/**
 * Shares the event loop between connections. One turn of it serves every socket that is ready, up to two megabytes each: with hundreds of busy ones, or
 * hundreds that close in the middle of a large frame, everybody else would wait for all of them.
 */

/** Bytes that may wait for their turn; beyond, they are taken at once. */
const maxWaitingBytes = 64 * 2 ** 20;

/** What connections may take of one turn of the event loop; the rest waits for the next, in order. */
const shareMs = 8;

export interface Turns {
  /** True: this turn's share is used up, or others wait already; use `later`. */
  over(): boolean;
  /** Runs in order, when a turn has time for it. Never lost: `stop` runs what waits. `bytes`: what the work holds until then. */
  later(bytes: number, work: () => void): void;
  /** Runs all that waits now. */
  stop(): void;
}

export function createTurns(now: () => number = () => performance.now()): Turns {
  let began: number | undefined;
  let waiting: { readonly bytes: number; readonly work: () => void }[] = [];
  let waitingBytes = 0;
  let scheduled = false;
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(next);
  };
  const run = (one: { readonly bytes: number; readonly work: () => void }) => {
    waitingBytes -= one.bytes;
    one.work();
  };
  const next = () => {
    scheduled = false;
    began = undefined;
    if (waiting.length === 0) return;
    const started = now();
    began = started;
    const due = waiting;
    let done = 0;
    while (done < due.length && (done === 0 || now() - started <= shareMs)) {
      run(due[done] as (typeof due)[number]);
      done += 1;
    }
    waiting = due.slice(done);
    schedule();
  };
  return {
    over: () => {
      schedule();
      began ??= now();
      return waitingBytes < maxWaitingBytes && (waiting.length > 0 || now() - began > shareMs);
    },
    later: (bytes, work) => {
      waiting.push({ bytes, work });
      waitingBytes += bytes;
      schedule();
    },
    stop: () => {
      while (waiting.length > 0) waiting.splice(0).forEach(run);
    },
  };
}
