/**
 * Slows down those who guess passwords, without a lock that an attacker could close before the real owner
 * (docs/access.md).
 *
 * Wrong attempts are counted for each pair of account and address, for each account, and for each address. Past its
 * free attempts a count has slots: one attempt a second, then ever fewer, down to one in half a minute. An attempt
 * without a slot waits for one instead of being refused. Of the addresses that wait the next one is drawn by lot, and
 * when too many wait, one of the most crowded address leaves: nobody can stand in front of everybody else. A pair that
 * has logged in before is not counted by account or address: whoever attacks from elsewhere does not slow it down.
 */
import { LRUCache } from 'lru-cache';
import { keyOfName } from '../../core/names.js';
import {
  createAttemptCounts,
  firstGapMs,
  maxCounts,
  networkOf,
  type AttemptCounts,
  type CountKey,
} from './attempt-counts.js';
import { throttled } from '../errors.js';

export interface Attempt {
  /** This account has logged in from this address before. */
  readonly known: boolean;
  succeeded(): void;
  failed(): void;
  /** Neither right nor wrong: the check itself failed. */
  abandoned(): void;
}

export interface Throttle {
  /**
   * Resolves when the attempt may be made. Rejects with ACCESS_THROTTLED when too many wait, or none is drawn for too
   * long.
   */
  attempt(username: string, address: string): Promise<Attempt>;
  /** Forgets what is counted against an account. */
  forgive(username: string): void;
  waiting(): number;
  stop(): void;
}

interface ThrottleOptions {
  readonly now?: () => number;
  /** Calls back once after the time, unless it is cancelled. */
  readonly timer?: (run: () => void, milliseconds: number) => () => void;
  readonly random?: () => number;
}

const longestWaitMs = 10_000;
/** Attempts that wait: in all, and at one count. Each holds a connection open. */
const maxWaiting = 256;
const maxWaitingAtOne = 16;

interface Waiter {
  readonly keys: readonly CountKey[];
  /** The address that it came from. */
  readonly network: string;
  readonly pass: () => void;
  readonly refuse: (error: Error) => void;
  cancel: () => void;
}

export function createThrottle(options: ThrottleOptions = {}): Throttle {
  return new LoginThrottle(options);
}

class LoginThrottle implements Throttle {
  readonly #now: () => number;
  readonly #timer: (run: () => void, milliseconds: number) => () => void;
  readonly #random: () => number;
  readonly #counts: AttemptCounts;
  /** Pairs that have logged in. */
  readonly #known = new LRUCache<string, true>({ max: maxCounts });
  readonly #waiters = new Set<Waiter>();
  #cancelDraw: (() => void) | undefined;

  constructor({ now = Date.now, timer = startTimer, random = Math.random }: ThrottleOptions) {
    this.#now = now;
    this.#timer = timer;
    this.#random = random;
    this.#counts = createAttemptCounts(now);
  }

  async attempt(username: string, address: string): Promise<Attempt> {
    const account = keyOfName(username);
    const network = networkOf(address);
    const pair = `${network} ${account}`;
    const known = this.#known.has(pair);
    const keys: readonly CountKey[] = [
      { kind: 'pair', name: pair },
      ...(known ? [] : [{ kind: 'account', name: account } as const, { kind: 'address', name: network } as const]),
    ];
    if (this.#counts.slotOf(keys) > this.#now()) await this.#wait(keys, network);
    else this.#counts.take(keys);
    return {
      known,
      succeeded: () => {
        this.#counts.settle(keys, false);
        this.#counts.forget({ kind: 'pair', name: pair });
        this.#known.set(pair, true);
        this.#draw();
      },
      failed: () => this.#counts.settle(keys, true),
      abandoned: () => this.#counts.settle(keys, false),
    };
  }

  forgive(username: string): void {
    this.#counts.forgive(keyOfName(username));
    this.#draw();
  }

  waiting(): number {
    return this.#waiters.size;
  }

  stop(): void {
    this.#cancelDraw?.();
    for (const waiter of this.#waiters) this.#refuse(waiter, longestWaitMs);
  }

  #wait(keys: readonly CountKey[], network: string): Promise<void> {
    const atOne = [...this.#waiters].filter((waiter) =>
      waiter.keys.some(({ name }) => keys.some((key) => key.name === name)),
    );
    const crowd = atOne.length >= maxWaitingAtOne ? atOne : this.#waiters.size >= maxWaiting ? [...this.#waiters] : [];
    return new Promise((pass, refuse) => {
      const waiter: Waiter = { keys, network, pass, refuse, cancel: () => undefined };
      waiter.cancel = this.#timer(() => this.#refuse(waiter, this.#counts.slotOf(keys) - this.#now()), longestWaitMs);
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
    const next = Math.min(...[...this.#waiters].map(({ keys }) => this.#counts.slotOf(keys)));
    if (Number.isFinite(next)) this.#cancelDraw = this.#timer(() => this.#draw(), Math.max(1, next - this.#now()));
  }

  #draw(): void {
    for (;;) {
      const now = this.#now();
      const due = groups([...this.#waiters].filter(({ keys }) => this.#counts.slotOf(keys) <= now));
      const lucky = this.#oneOf(this.#oneOf([...due.values()]) ?? []);
      if (lucky === undefined) break;
      lucky.cancel();
      this.#waiters.delete(lucky);
      this.#counts.take(lucky.keys);
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
  const byNetwork = [...groups(waiters).values()];
  return byNetwork.reduce((most, some) => (some.length > most.length ? some : most), byNetwork[0] ?? []);
}

function groups(waiters: readonly Waiter[]): Map<string, Waiter[]> {
  const byNetwork = new Map<string, Waiter[]>();
  for (const waiter of waiters) byNetwork.set(waiter.network, [...(byNetwork.get(waiter.network) ?? []), waiter]);
  return byNetwork;
}

function startTimer(run: () => void, milliseconds: number): () => void {
  const timer = setTimeout(run, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
}
