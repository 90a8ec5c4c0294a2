import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the time, or at once when the signal aborts. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
