/** Watching all workers at once: the sums of what each counts, and what passes any of them. */
import { createControlClient } from '../../api/control/client.js';
import type { ControlHandler } from '../../api/control/contract.js';
import { toError } from '../../core/errors.js';
import type { SenderAccount, Top } from '../../pipeline/monitoring/contract.js';
import { sumCounts } from './counts.js';

export function createWatchAnswers(
  running: () => readonly number[],
  controlPathOf: (worker: number) => string,
): Readonly<Record<string, ControlHandler>> {
  return {
    'GET /top': async () =>
      mergeTops(
        await Promise.all(
          running().map(
            async (worker) => (await createControlClient(controlPathOf(worker)).request('GET', '/top')) as Top,
          ),
        ),
      ),
    'POST /tap': async (body, { line, signal }) => {
      let told = false;
      // A worker without the target (UDP runs in one of them) says so; the answer fails when all do.
      const ended = await Promise.allSettled(
        running().map((worker) =>
          createControlClient(controlPathOf(worker)).stream(
            '/tap',
            body,
            async (value) => {
              const first = (value as { readonly target?: unknown }).target !== undefined;
              if (first && told) return;
              told ||= first;
              await line(value);
            },
            signal,
          ),
        ),
      );
      const failed = ended.find((result) => result.status === 'rejected');
      if (!told && failed !== undefined) throw toError(failed.reason);
      return undefined;
    },
  };
}

function mergeTops(tops: readonly Top[]): Top {
  const senders = new Map<string, SenderAccount>();
  for (const account of tops.flatMap((top) => top.senders)) {
    const key = `${account.receiver} ${account.address}`;
    const known = senders.get(key);
    senders.set(key, known === undefined ? account : mergeAccounts(known, account));
  }
  return {
    at: Date.now(),
    senders: [...senders.values()],
    streams: sumCounts(tops.map((top) => top.streams)),
    rules: sumCounts(tops.map((top) => top.rules)),
  };
}

function mergeAccounts(one: SenderAccount, other: SenderAccount): SenderAccount {
  const later = one.lastSeen > other.lastSeen ? one : other;
  return {
    ...one,
    messages: one.messages + other.messages,
    bytes: one.bytes + other.bytes,
    refused: one.refused + other.refused,
    shed: one.shed + other.shed,
    firstSeen: Math.min(one.firstSeen, other.firstSeen),
    lastSeen: later.lastSeen,
    clockSkewMs: later.clockSkewMs ?? one.clockSkewMs ?? other.clockSkewMs,
  };
}
