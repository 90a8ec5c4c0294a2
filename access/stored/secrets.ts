/** Sessions and access tokens: random texts that their owner shows; the state knows them by their SHA-256. */
import { createHash, randomBytes } from 'node:crypto';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { StateEntry, StateStore } from '../../state/contract.js';
import { isConflict } from './collection.js';

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
  list(): Promise<readonly StateEntry[]>;
  removeEntry(entry: StateEntry): Promise<void>;
  /** Waits for notes of use that are under way. */
  stop(): Promise<void>;
}

interface Cached<Value> {
  entry: StateEntry;
  value: Value;
  readAt: number;
}

export interface SecretsOptions {
  readonly state: StateStore;
  readonly prefix: string;
  readonly encode: (random: Buffer) => string;
  readonly log: Log;
  readonly now: () => number;
}

export function createSecrets<Value extends { readonly used_at?: number | undefined }>(
  options: SecretsOptions,
): Secrets<Value> {
  return new StoredSecrets<Value>(options);
}

class StoredSecrets<Value extends { readonly used_at?: number | undefined }> implements Secrets<Value> {
  readonly #options: SecretsOptions;
  readonly #cached = new Map<string, Cached<Value>>();
  readonly #reading = new Map<string, Promise<Value | undefined>>();
  /** Notes under way, by key. */
  readonly #notes = new Map<string, Promise<void>>();

  constructor(options: SecretsOptions) {
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
    const read = entry.value as Value;
    const usedAt = Math.max(read.used_at ?? 0, before?.value.used_at ?? 0);
    const cached = { entry, value: usedAt === 0 ? read : { ...read, used_at: usedAt }, readAt: this.#options.now() };
    this.#cached.delete(key);
    this.#cached.set(key, cached);
    const oldest = this.#cached.size > maxCached ? this.#cached.keys().next().value : undefined;
    if (oldest !== undefined) this.#cached.delete(oldest);
    return cached;
  }

  used(secret: string, noteEveryMs: number): void {
    const key = this.#keyOf(secret);
    const cached = this.#cached.get(key);
    if (cached === undefined) return;
    const now = this.#options.now();
    const noted = (cached.entry.value as Value).used_at ?? 0;
    cached.value = { ...cached.value, used_at: now };
    if (now - noted < noteEveryMs || this.#notes.has(key) || this.#notes.size >= maxNotes) return;
    this.#notes.set(
      key,
      this.#note(key, cached).finally(() => this.#notes.delete(key)),
    );
  }

  /** Of two processes that note the same, one is refused: the next use tries again. */
  async #note(key: string, cached: Cached<Value>): Promise<void> {
    try {
      const entry = await this.#options.state.put(key, cached.value, cached.entry.revision);
      if (this.#cached.has(key)) this.#keep(key, entry);
    } catch (thrown) {
      if (isConflict(thrown)) cached.readAt = 0;
      else
        this.#options.log.warn({ error: errorText(thrown) }, 'the last use of a session or token could not be noted');
    }
  }

  async remove(secret: string): Promise<boolean> {
    const key = this.#keyOf(secret);
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

  list(): Promise<readonly StateEntry[]> {
    return this.#options.state.list(this.#options.prefix);
  }

  /** The newest revision may be another one than was listed: it is the same secret. */
  async removeEntry({ key }: StateEntry): Promise<void> {
    for (;;) {
      const entry = await this.#options.state.get(key);
      this.#cached.delete(key);
      if (entry === undefined) return;
      try {
        return await this.#options.state.delete(key, entry.revision);
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
