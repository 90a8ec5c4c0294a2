/**
 * What each sender has sent, for people to look at: a bounded table in which the sender silent for longest gives way.
 */
import { LRUCache } from 'lru-cache';
import { at } from '../../core/at.js';
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { MessageBatch, Refusal } from '../../schemas/messages.js';
import type { SenderAccount } from './contract.js';
import { viewMetrics } from './metrics.js';

/** About 300 bytes each. */
const maxSenders = 10_000;
/** A sender's clock is looked at this often at the most. */
const skewEveryMs = 5_000;
/** Where a time stands in a message; numbers above the bound are milliseconds. */
const timestampKey = Buffer.from('"timestamp"');
const timestampValue = /^\s*:\s*"?(\d{1,19}(?:\.\d{1,9})?)/;
const millisecondsFrom = 1e11;

export interface Senders {
  received(batch: MessageBatch): void;
  refused(refusals: readonly Refusal[]): void;
  shed(receiver: string, peer: string, at: number): void;
  list(): readonly SenderAccount[];
}

interface Account extends SenderAccount {
  /** When its clock was looked at. */
  skewAt: number;
}

/** `10.0.0.7:4711` and `[::1]:4711` without the port; a text without one as it is. */
function addressOf(peer: string): string {
  const colon = peer.lastIndexOf(':');
  return colon < 0 ? peer : peer.slice(0, colon);
}

export function createSenders(registry: Registry, most = maxSenders): Senders {
  const metrics = buildMetrics(registry, viewMetrics);
  const accounts = new LRUCache<string, Account>({
    max: most,
    dispose: (_account, _key, reason) => {
      if (reason === 'evict') metrics.sendersEvicted.inc();
    },
  });

  const accountOf = (receiver: string, peer: string, at: number): Account => {
    const address = addressOf(peer);
    const key = `${receiver} ${address}`;
    let account = accounts.get(key);
    if (account === undefined) {
      account = {
        receiver,
        address,
        messages: 0,
        bytes: 0,
        refused: 0,
        shed: 0,
        firstSeen: at,
        lastSeen: at,
        clockSkewMs: undefined,
        skewAt: -Infinity,
      };
      accounts.set(key, account);
      metrics.sendersKnown.set(accounts.size);
    }
    account.lastSeen = at;
    return account;
  };

  const add = (account: Account, messages: number, bytes: number, sample: Buffer): void => {
    account.messages += messages;
    account.bytes += bytes;
    const at = account.lastSeen;
    if (at - account.skewAt < skewEveryMs) return;
    account.skewAt = at;
    const sent = timeOf(sample);
    if (sent !== undefined) account.clockSkewMs = Math.round(at - sent);
  };

  return {
    received({ receiver, receivedAt, values, peers, bytes }) {
      if (typeof peers === 'string') {
        add(accountOf(receiver, peers, receivedAt), values.length, bytes, at(values, 0));
        return;
      }
      for (let start = 0, end = 0; start < values.length; start = end) {
        let length = 0;
        while (end < values.length && peers[end] === peers[start]) length += at(values, end++).length;
        const account = accountOf(receiver, at(peers, start), receivedAt);
        add(account, end - start, length, at(values, start));
      }
    },
    refused(refusals) {
      for (const { receiver, peer, receivedAt } of refusals) accountOf(receiver, peer, receivedAt).refused += 1;
    },
    shed(receiver, peer, at) {
      accountOf(receiver, peer, at).shed += 1;
    },
    list: () =>
      Array.from(
        accounts.values(),
        ({ receiver, address, messages, bytes, refused, shed, firstSeen, lastSeen, clockSkewMs }) => ({
          receiver,
          address,
          messages,
          bytes,
          refused,
          shed,
          firstSeen,
          lastSeen,
          clockSkewMs,
        }),
      ),
  };
}

function timeOf(value: Buffer): number | undefined {
  const key = value.indexOf(timestampKey);
  if (key < 0) return undefined;
  const start = key + timestampKey.length;
  const digits = timestampValue.exec(value.toString('latin1', start, start + 40))?.[1];
  if (digits === undefined) return undefined;
  const time = Number(digits);
  return time > millisecondsFrom ? time : time * 1000;
}
