/** What may fail while engines and other processors start beside us: an index that somebody else is just creating, a cluster that elects. */
import { errorText, isSluiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { createBackOff } from '../core/retry.js';
import { pause } from '../core/wait.js';

/** As long as the topic log waits for its brokers. */
const patienceMs = 60_000;

/** Repeats what fails with a retryable error. */
export async function patiently<Result>(
  what: string,
  log: Log,
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + patienceMs;
  const backOff = createBackOff(200, 2_000);
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!isSluiceError(error) || !error.retryable || signal.aborted || performance.now() > until) throw error;
      log.warn({ error: errorText(error) }, `${what}; trying again`);
      await pause(backOff(), signal);
    }
  }
}
