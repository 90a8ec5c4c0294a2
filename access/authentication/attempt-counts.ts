/**
 * Wrong attempts of pairs of account and address, of accounts and of addresses, and when each of them lets the next one
 * pass.
 */
import { LRUCache } from 'lru-cache';
import { isIPv6 } from 'node:net';

/**
 * Wrong attempts without any wait. Typing errors of a person; of an office behind one address; of an account that is
 * attacked from many addresses.
 */
const free = { pair: 5, account: 20, address: 50 } as const;
export const firstGapMs = 1_000;
const longestGapMs = 30_000;
/** A count is forgotten when nothing wrong came for this long. */
const forgetMs = 15 * 60_000;
/** Counts of each kind, and pairs that have logged in. Beyond it the oldest is forgotten. */
export const maxCounts = 10_000;

export interface CountKey {
  readonly kind: keyof typeof free;
  readonly name: string;
}

interface Count {
  failures: number;
  /** Attempts whose outcome is not known yet: those at the same time count as wrong ones. */
  pending: number;
  lastFailure: number;
  /** No attempt before this time. */
  nextSlot: number;
}

export interface AttemptCounts {
  /** When the last of these counts lets an attempt pass. */
  slotOf(keys: readonly CountKey[]): number;
  take(keys: readonly CountKey[]): void;
  settle(keys: readonly CountKey[], wrong: boolean): void;
  forget(key: CountKey): void;
  /** All that is counted against an account. */
  forgive(account: string): void;
}

export function createAttemptCounts(now: () => number): AttemptCounts {
  const counts = {
    pair: new LRUCache<string, Count>({ max: maxCounts }),
    account: new LRUCache<string, Count>({ max: maxCounts }),
    address: new LRUCache<string, Count>({ max: maxCounts }),
  };
  const find = ({ kind, name }: CountKey): Count | undefined => {
    // Looking at a count does not make it a newer one.
    const count = counts[kind].peek(name);
    if (count === undefined || now() - count.lastFailure < forgetMs) return count;
    counts[kind].delete(name);
    return undefined;
  };
  return {
    slotOf: (keys) => Math.max(...keys.map((key) => find(key)?.nextSlot ?? 0)),
    take(keys) {
      for (const key of keys) {
        const count = find(key) ?? { failures: 0, pending: 0, lastFailure: now(), nextSlot: 0 };
        count.pending += 1;
        count.nextSlot = Math.max(count.nextSlot, now() + gapOf(count.failures + count.pending + 1 - free[key.kind]));
        counts[key.kind].set(key.name, count);
      }
    },
    settle(keys, wrong) {
      for (const { kind, name } of keys) {
        const count = counts[kind].peek(name);
        if (count === undefined) continue;
        count.pending = Math.max(0, count.pending - 1);
        if (wrong) {
          count.failures += 1;
          count.lastFailure = now();
          count.nextSlot = Math.max(count.nextSlot, now() + gapOf(count.failures + 1 - free[kind]));
        } else if (count.failures + count.pending === 0) counts[kind].delete(name);
      }
    },
    forget: ({ kind, name }) => void counts[kind].delete(name),
    forgive(account) {
      counts.account.delete(account);
      for (const pair of counts.pair.keys()) if (pair.endsWith(` ${account}`)) counts.pair.delete(pair);
    },
  };
}

function gapOf(over: number): number {
  return over <= 0 ? 0 : Math.min(longestGapMs, firstGapMs * 2 ** (Math.min(over, 20) / 3));
}

/** Whoever has one address of an IPv6 network has all of its /64. */
export function networkOf(address: string): string {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = (plain.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? before
      : [...before, ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
