/** Reads stored definitions in a process that must take or send messages also while the state is away. */
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { createBackOff } from '../core/retry/retry.js';
import { pause } from '../core/wait.js';
import type { StateStore } from '../state/contract.js';
import type { ApiDefinitions } from './api-definitions.js';
import { definitionEvents } from './events.js';

const firstRetryMs = 500;
const lastRetryMs = 15_000;

interface OwnState {
  /** Returns at once: definitions come when the state answers. */
  start(): void;
  stop(deadlineMs: number): Promise<void>;
}

export function createOwnState(
  state: StateStore,
  definitions: Pick<ApiDefinitions, 'start' | 'stop'>,
  log: Log,
): OwnState {
  const ending = new AbortController();
  let starting: Promise<void> = Promise.resolve();
  let started = false;

  const startPatiently = async (): Promise<void> => {
    const backOff = createBackOff(firstRetryMs, lastRetryMs);
    while (!ending.signal.aborted) {
      try {
        await state.start();
        await definitions.start();
        started = true;
        return;
      } catch (error) {
        await state.stop(0).catch(() => undefined);
        definitionEvents.ownStateUnread(log, { error: errorText(error) });
        await pause(backOff(), ending.signal);
      }
    }
  };

  return {
    start() {
      starting = startPatiently();
    },
    async stop(deadlineMs) {
      ending.abort();
      await starting;
      await definitions.stop();
      if (started) await state.stop(deadlineMs);
    },
  };
}
