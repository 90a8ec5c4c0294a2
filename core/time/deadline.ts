/** The one deadline of the program: waiting for something, but not for longer than so many milliseconds. */
import { setTimeout as sleep } from 'node:timers/promises';

/** True when `work` ended in time, false when the time was up first. A rejection counts as ended. The work goes on. */
export async function withinDeadline(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  const ending = new AbortController();
  const ended = work.then(
    () => true,
    () => true,
  );
  const late = sleep(deadlineMs, false, { signal: ending.signal }).catch(() => false);
  try {
    return await Promise.race([ended, late]);
  } finally {
    ending.abort();
  }
}
