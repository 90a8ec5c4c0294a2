/**
 * Receivers that people made through the API: started, changed and stopped while the program runs, in every process
 * with the role receiver.
 */
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Receiver, ReceiverAddress } from '../receivers/contract.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { RuntimeReceiver } from '../definitions/contract.js';
import { programEvents } from './events.js';

interface ReceiverState {
  readonly state: 'STARTING' | 'RUNNING' | 'FAILED' | 'STOPPED';
  /** Why it failed. */
  readonly problem: string | undefined;
  readonly address: ReceiverAddress | undefined;
}

export interface RuntimeReceivers {
  /** Brings what runs in line with what is wanted; resolves when it is. */
  apply(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** Those that take messages. */
  running(): readonly Receiver[];
  state(id: string): ReceiverState | undefined;
}

interface RuntimeReceiversOptions {
  readonly wanted: () => readonly RuntimeReceiver[];
  /** Undefined: it runs in another worker of this program. */
  readonly create: (options: ReceiverOptions) => Receiver | undefined;
  /** Throws when it must not be tried now. */
  readonly assertPortFree?: ((options: ReceiverOptions) => void) | undefined;
  readonly log: Log;
  /** A problem that was logged with these facts and this message is over. */
  readonly solved?: ((facts: { readonly receiver: string }, message: string) => void) | undefined;
  readonly retryMs?: number;
}

/** How long one whose settings changed may take to make durable what it has taken. */
const replaceDeadlineMs = 5_000;
/** A port that was taken may have become free. */
const defaultRetryMs = 10_000;

const cannotStart = 'a receiver made through the API cannot start; trying again';

interface Entry {
  readonly settings: string;
  readonly receiver: Receiver;
  state: ReceiverState;
}

export function createRuntimeReceivers({
  wanted,
  create,
  assertPortFree,
  log,
  solved = () => undefined,
  retryMs = defaultRetryMs,
}: RuntimeReceiversOptions): RuntimeReceivers {
  const entries = new Map<string, Entry>();
  let turn: Promise<void> = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  const startOne = async ({ id, options }: RuntimeReceiver, settings: string): Promise<void> => {
    const receiver = create(options);
    if (receiver === undefined) return;
    const entry: Entry = { settings, receiver, state: { state: 'STARTING', problem: undefined, address: undefined } };
    entries.set(id, entry);
    try {
      assertPortFree?.(options);
      await receiver.start();
      entry.state = { state: 'RUNNING', problem: undefined, address: receiver.address() };
      solved({ receiver: id }, cannotStart);
      programEvents.receiverStarted(log, { receiver: id, ...receiver.address() });
    } catch (error) {
      entry.state = { state: 'FAILED', problem: errorText(error), address: undefined };
      programEvents.receiverNotStarted(log, { receiver: id, error: errorText(error) }, cannotStart);
      await receiver.stop(0);
    }
  };

  const bringInLine = async (): Promise<void> => {
    const enabled = new Map(
      wanted()
        .filter((one) => one.enabled)
        .map((one) => [one.id, one]),
    );
    for (const [id, { settings, receiver, state }] of entries) {
      const next = enabled.get(id);
      if (next !== undefined && JSON.stringify(next.options) === settings && state.state !== 'FAILED') continue;
      await receiver.stop(replaceDeadlineMs);
      entries.delete(id);
      if (next === undefined) solved({ receiver: id }, cannotStart);
      if (state.state === 'RUNNING')
        programEvents.receiverStopped(
          log,
          { receiver: id },
          next === undefined ? 'receiver stopped' : 'receiver stopped for its changed settings',
        );
    }
    for (const [id, one] of enabled) if (!stopped && !entries.has(id)) await startOne(one, JSON.stringify(one.options));
    clearTimeout(retry);
    const failed = [...entries.values()].some(({ state }) => state.state === 'FAILED');
    if (failed && !stopped) retry = setTimeout(() => void apply(), retryMs).unref();
  };

  const apply = (): Promise<void> => {
    turn = turn
      .then(async () => {
        if (!stopped) await bringInLine();
      })
      .catch((error: unknown) => programEvents.receiversNotApplied(log, { error: errorText(error) }));
    return turn;
  };

  return {
    apply,
    async stop(deadlineMs) {
      stopped = true;
      clearTimeout(retry);
      await turn;
      await Promise.allSettled([...entries.values()].map(({ receiver }) => receiver.stop(deadlineMs)));
      entries.clear();
    },
    running: () =>
      [...entries.values()].filter(({ state }) => state.state === 'RUNNING').map(({ receiver }) => receiver),
    state(id) {
      const one = wanted().find((candidate) => candidate.id === id);
      if (one === undefined) return undefined;
      return (
        entries.get(id)?.state ?? {
          state: one.enabled ? 'STARTING' : 'STOPPED',
          problem: undefined,
          address: undefined,
        }
      );
    },
  };
}
