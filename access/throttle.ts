/**
 * Slows down those who guess passwords, without a lock that an attacker could close before the real owner (docs/access.md).
 *
 * Wrong attempts are counted for each pair of account and address, for each account, and for each address. Past its free attempts a
 * count has slots: one attempt a second, then ever fewer, down to one in half a minute. An attempt without a slot waits for one
 * instead of being refused. Of the addresses that wait the next one is drawn by lot, and when too many wait, one of the most crowded
 * address leaves: nobody can stand in front of everybody else.
 * A pair that has logged in before is not counted by account or address: whoever attacks from elsewhere does not slow it down.
 */
import { isIPv6 } from 'node:net';
import { throttled } from './errors.js';
import { keyOfName } from './names.js';

export interface Attempt {
  /** This account has logged in from this address before. */
  readonly known: boolean;
  succeeded(): void;
  failed(): void;
  /** Neither right nor wrong: the check itself failed. */
  abandoned(): void;
}

export interface Throttle {
  /** Resolves when the attempt may be made. Rejects with ACCESS_THROTTLED when too many wait, or none is drawn for too long. */
  attempt(username: string, address: string): Promise<Attempt>;
  /** Forgets what is counted against an account. */
  forgive(username: string): void;
  waiting(): number;
  stop(): void;
}

export interface ThrottleOptions {
  readonly now?: () => number;
  /** Calls back once after the time, unless it is cancelled. */
  readonly timer?: (run: () => void, milliseconds: number) => () => void;
  readonly random?: () => number;
}

/** Wrong attempts without any wait. Typing errors of a person; of an office behind one address; of an account that is attacked from many addresses. */
const free = { pair: 5, account: 20, address: 50 } as const;
const firstGapMs = 1_000;
const longestGapMs = 30_000;
/** A count is forgotten when nothing wrong came for this long. */
const forgetMs = 15 * 60_000;
const longestWaitMs = 10_000;
/** Attempts that wait: in all, and at one count. Each holds a connection open. */
const maxWaiting = 256;
const maxWaitingAtOne = 16;
/** Counts of each kind, and pairs that have logged in. Past it the oldest is forgotten. */
const maxCounts = 10_000;

interface Count {
  failures: number;
  /** Attempts whose outcome is not known yet: those at the same time count as wrong ones. */
  pending: number;
  lastFailure: number;
  /** No attempt before this time. */
  nextSlot: number;
}

interface Waiter {
  readonly keys: readonly Key[];
  /** The address that it came from. */
  readonly place: string;
  readonly pass: () => void;
  readonly refuse: (error: Error) => void;
  cancel: () => void;
}

interface Key {
  readonly kind: keyof typeof free;
  readonly name: string;
}

export function createThrottle(options: ThrottleOptions = {}): Throttle {
  return new LoginThrottle(options);
}

class LoginThrottle implements Throttle {
  readonly #now: () => number;
  readonly #timer: (run: () => void, milliseconds: number) => () => void;
  readonly #random: () => number;
  readonly #counts = { pair: new Map<string, Count>(), account: new Map<string, Count>(), address: new Map<string, Count>() };
  /** Pairs that have logged in, oldest first. */
  readonly #known = new Set<string>();
  readonly #waiters = new Set<Waiter>();
  #cancelDraw: (() => void) | undefined;

  constructor({ now = Date.now, timer = startTimer, random = Math.random }: ThrottleOptions) {
    this.#now = now;
    this.#timer = timer;
    this.#random = random;
  }

  async attempt(username: string, address: string): Promise<Attempt> {
    const account = keyOfName(username);
    const place = placeOf(address);
    const pair = `${place} ${account}`;
    const known = this.#known.has(pair);
    const keys: readonly Key[] = [
      { kind: 'pair', name: pair },
      ...(known ? [] : [{ kind: 'account', name: account } as const, { kind: 'address', name: place } as const]),
    ];
    if (this.#slotOf(keys) > this.#now()) await this.#wait(keys, place);
    else this.#take(keys);
    return {
      known,
      succeeded: () => {
        this.#settle(keys, false);
        this.#counts.pair.delete(pair);
        this.#known.delete(pair);
        keepNewest(this.#known);
        this.#known.add(pair);
        this.#draw();
      },
      failed: () => this.#settle(keys, true),
      abandoned: () => this.#settle(keys, false),
    };
  }

  forgive(username: string): void {
    const account = keyOfName(username);
    this.#counts.account.delete(account);
    for (const pair of this.#counts.pair.keys()) if (pair.endsWith(` ${account}`)) this.#counts.pair.delete(pair);
    this.#draw();
  }

  waiting(): number {
    return this.#waiters.size;
  }

  stop(): void {
    this.#cancelDraw?.();
    for (const waiter of this.#waiters) this.#refuse(waiter, longestWaitMs);
  }

  /** When the last of these counts lets an attempt pass. */
  #slotOf(keys: readonly Key[]): number {
    return Math.max(...keys.map(({ kind, name }) => this.#countOf(kind, name)?.nextSlot ?? 0));
  }

  #countOf(kind: Key['kind'], name: string): Count | undefined {
    const count = this.#counts[kind].get(name);
    if (count === undefined || this.#now() - count.lastFailure < forgetMs) return count;
    this.#counts[kind].delete(name);
    return undefined;
  }

  #take(keys: readonly Key[]): void {
    for (const { kind, name } of keys) {
      const counts = this.#counts[kind];
      const count = this.#countOf(kind, name) ?? { failures: 0, pending: 0, lastFailure: this.#now(), nextSlot: 0 };
      count.pending += 1;
      count.nextSlot = Math.max(count.nextSlot, this.#now() + gapOf(count.failures + count.pending + 1 - free[kind]));
      counts.delete(name);
      keepNewest(counts);
      counts.set(name, count);
    }
  }

  #settle(keys: readonly Key[], wrong: boolean): void {
    for (const { kind, name } of keys) {
      const count = this.#counts[kind].get(name);
      if (count === undefined) continue;
      count.pending = Math.max(0, count.pending - 1);
      if (wrong) {
        count.failures += 1;
        count.lastFailure = this.#now();
        count.nextSlot = Math.max(count.nextSlot, this.#now() + gapOf(count.failures + 1 - free[kind]));
      } else if (count.failures + count.pending === 0) this.#counts[kind].delete(name);
    }
  }

  #wait(keys: readonly Key[], place: string): Promise<void> {
    const atOne = [...this.#waiters].filter((waiter) => waiter.keys.some(({ name }) => keys.some((key) => key.name === name)));
    const crowd = atOne.length >= maxWaitingAtOne ? atOne : this.#waiters.size >= maxWaiting ? [...this.#waiters] : [];
    return new Promise((pass, refuse) => {
      const waiter: Waiter = { keys, place, pass, refuse, cancel: () => undefined };
      waiter.cancel = this.#timer(() => this.#refuse(waiter, this.#slotOf(keys) - this.#now()), longestWaitMs);
      this.#waiters.add(waiter);
      const leaves = this.#oneOf(mostCrowded([...crowd, waiter]));
      if (crowd.length > 0 && leaves !== undefined) this.#refuse(leaves, longestWaitMs);
      this.#schedule();
    });
  }

  #refuse(waiter: Waiter, retryAfterMs: number): void {
    waiter.cancel();
    this.#waiters.delete(waiter);
    waiter.refuse(throttled(Math.max(firstGapMs, retryAfterMs)));
  }

  #schedule(): void {
    this.#cancelDraw?.();
    this.#cancelDraw = undefined;
    const next = Math.min(...[...this.#waiters].map(({ keys }) => this.#slotOf(keys)));
    if (Number.isFinite(next)) this.#cancelDraw = this.#timer(() => this.#draw(), Math.max(1, next - this.#now()));
  }

  #draw(): void {
    for (;;) {
      const now = this.#now();
      const due = groups([...this.#waiters].filter(({ keys }) => this.#slotOf(keys) <= now));
      const lucky = this.#oneOf(this.#oneOf([...due.values()]) ?? []);
      if (lucky === undefined) break;
      lucky.cancel();
      this.#waiters.delete(lucky);
      this.#take(lucky.keys);
      lucky.pass();
    }
    this.#schedule();
  }

  #oneOf<Value>(values: readonly Value[]): Value | undefined {
    return values[Math.floor(this.#random() * values.length)];
  }
}

/** Those of the address that most of them come from: who floods displaces the own ones. */
function mostCrowded(waiters: readonly Waiter[]): readonly Waiter[] {
  const byPlace = [...groups(waiters).values()];
  return byPlace.reduce((most, some) => (some.length > most.length ? some : most), byPlace[0] ?? []);
}

function groups(waiters: readonly Waiter[]): Map<string, Waiter[]> {
  const byPlace = new Map<string, Waiter[]>();
  for (const waiter of waiters) byPlace.set(waiter.place, [...(byPlace.get(waiter.place) ?? []), waiter]);
  return byPlace;
}

/** Whoever has one address of an IPv6 network has all of its /64. */
function placeOf(address: string): string {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = (plain.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? before : [...before, ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0'), ...after];
  return `${groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

function gapOf(over: number): number {
  return over <= 0 ? 0 : Math.min(longestGapMs, firstGapMs * 2 ** (Math.min(over, 20) / 3));
}

function keepNewest(kept: Map<string, unknown> | Set<string>): void {
  const oldest = kept.size >= maxCounts ? kept.keys().next().value : undefined;
  if (oldest !== undefined) kept.delete(oldest);
}

function startTimer(run: () => void, milliseconds: number): () => void {
  const timer = setTimeout(run, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
}
