/** Sessions and access tokens: random texts that their owner shows; the state knows them by their SHA-256. */
import { LRUCache } from 'lru-cache';
import { createHash, randomBytes } from 'node:crypto';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { StateEntry, StateStore } from '../../state/contract.js';
import { isConflict } from './collection.js';
import type { ReadRecord } from './records.js';
import { accessEvents } from '../events.js';

/** A record is read again after this time: what another process ended ends here within a second. */
const recheckMs = 1_000;
/** Records in memory; beyond it the one that was used longest ago is read again when it comes. */
const maxCached = 10_000;
/** Notes of use that may wait for the state; further ones are left to the next use. */
const maxNotes = 64;

export interface Secrets<Value extends { readonly used_at?: number | undefined }> {
  /** Resolves with the secret, which is not kept. */
  create(value: Value): Promise<string>;
  find(secret: string): Promise<Value | undefined>;
  /** Notes the use: at once in memory, in the state only when the last note is older than `noteEveryMs`. */
  used(secret: string, noteEveryMs: number): void;
  /** False: it was not there. */
  remove(secret: string): Promise<boolean>;
  /** Records that cannot be read are left out. */
  list(): Promise<readonly ListedSecret<Value>[]>;
  removeListed(listed: Pick<ListedSecret<Value>, 'key'>): Promise<void>;
  /** Waits for notes of use that are under way. */
  stop(): Promise<void>;
}

export interface ListedSecret<Value> {
  readonly key: string;
  readonly value: Value;
}

interface Cached<Value> {
  readonly entry: StateEntry;
  /** As it is stored. */
  readonly stored: Value;
  /** With the latest use. */
  value: Value;
  readAt: number;
}

interface SecretsOptions<Value> {
  readonly state: StateStore;
  readonly prefix: string;
  readonly read: ReadRecord<Value>;
  readonly encode: (random: Buffer) => string;
  readonly log: Log;
  readonly now: () => number;
}

export function createSecrets<Value extends { readonly used_at?: number | undefined }>(
  options: SecretsOptions<Value>,
): Secrets<Value> {
  return new StoredSecrets<Value>(options);
}

class StoredSecrets<Value extends { readonly used_at?: number | undefined }> implements Secrets<Value> {
  readonly #options: SecretsOptions<Value>;
  readonly #cached = new LRUCache<string, Cached<Value>>({ max: maxCached });
  readonly #reading = new Map<string, Promise<Value | undefined>>();
  /** Notes under way, by key. */
  readonly #notes = new Map<string, Promise<void>>();

  constructor(options: SecretsOptions<Value>) {
    this.#options = options;
  }

  async create(value: Value): Promise<string> {
    const secret = this.#options.encode(randomBytes(32));
    const key = this.#keyOf(secret);
    this.#keep(key, await this.#options.state.put(key, value, undefined));
    return secret;
  }

  find(secret: string): Promise<Value | undefined> {
    const key = this.#keyOf(secret);
    const cached = this.#cached.get(key);
    if (cached !== undefined && this.#options.now() - cached.readAt < recheckMs) return Promise.resolve(cached.value);
    let reading = this.#reading.get(key);
    if (reading === undefined) {
      reading = this.#read(key).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    return reading;
  }

  async #read(key: string): Promise<Value | undefined> {
    const before = this.#cached.get(key)?.entry.revision;
    const entry = await this.#options.state.get(key);
    const now = this.#cached.get(key);
    // What was noted or removed here while the state was read may be newer than the answer.
    if (before !== undefined && now?.entry.revision !== before) return now?.value ?? this.#read(key);
    if (entry !== undefined) return this.#keep(key, entry).value;
    this.#cached.delete(key);
    return undefined;
  }

  #keep(key: string, entry: StateEntry): Cached<Value> {
    const before = this.#cached.get(key);
    const stored = this.#options.read(entry);
    const usedAt = Math.max(stored.used_at ?? 0, before?.value.used_at ?? 0);
    const value = usedAt === 0 ? stored : { ...stored, used_at: usedAt };
    const cached = { entry, stored, value, readAt: this.#options.now() };
    this.#cached.set(key, cached);
    return cached;
  }

  used(secret: string, noteEveryMs: number): void {
    const key = this.#keyOf(secret);
    const cached = this.#cached.get(key);
    if (cached === undefined) return;
    const now = this.#options.now();
    const noted = cached.stored.used_at ?? 0;
    cached.value = { ...cached.value, used_at: now };
    if (now - noted < noteEveryMs || this.#notes.has(key) || this.#notes.size >= maxNotes) return;
    this.#notes.set(
      key,
      this.#note(key, cached).finally(() => this.#notes.delete(key)),
    );
  }

  /** When two processes note a use at once, one is refused; it notes the next use. */
  async #note(key: string, cached: Cached<Value>): Promise<void> {
    try {
      const entry = await this.#options.state.put(key, cached.value, cached.entry.revision);
      if (this.#cached.has(key)) this.#keep(key, entry);
    } catch (thrown) {
      if (isConflict(thrown)) cached.readAt = 0;
      else accessEvents.lastUseNotNoted(this.#options.log, { error: errorText(thrown) });
    }
  }

  remove(secret: string): Promise<boolean> {
    return this.#remove(this.#keyOf(secret));
  }

  async list(): Promise<readonly ListedSecret<Value>[]> {
    const entries = await this.#options.state.list(this.#options.prefix);
    return entries.flatMap((entry) => this.#listed(entry));
  }

  #listed(entry: StateEntry): readonly ListedSecret<Value>[] {
    try {
      return [{ key: entry.key, value: this.#options.read(entry) }];
    } catch (error) {
      accessEvents.storedSessionUnread(this.#options.log, { error: errorText(error) });
      return [];
    }
  }

  /** The newest revision may be another one than was listed: it is the same secret. */
  async removeListed({ key }: Pick<ListedSecret<Value>, 'key'>): Promise<void> {
    await this.#remove(key);
  }

  async #remove(key: string): Promise<boolean> {
    for (;;) {
      const entry = await this.#options.state.get(key);
      this.#cached.delete(key);
      if (entry === undefined) return false;
      try {
        await this.#options.state.delete(key, entry.revision);
        return true;
      } catch (thrown) {
        if (!isConflict(thrown)) throw thrown;
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#notes.values());
  }

  #keyOf(secret: string): string {
    return this.#options.prefix + createHash('sha256').update(secret).digest('hex');
  }
}
