/**
 * All records under one prefix of the state, in memory, as new as about a second. For few and small records: users,
 * roles.
 */
import { errorText, isSluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { StateEntry, StateStore } from '../../state/contract.js';
import type { ReadRecord } from './records.js';
import { accessEvents } from '../events.js';

/** Conflicts of one change; more of them mean that something is broken. */
const maxTries = 10;

export interface Collection<Value> {
  start(): Promise<void>;
  stop(): void;
  /** By key. A change makes a new map, so that what is derived from it can be cached by it. */
  values(): ReadonlyMap<string, Value>;
  /** Rejects with STATE_CONFLICT when the key exists. */
  create(key: string, value: Value): Promise<void>;
  /**
   * `change` sees the newest record, maybe more than once; undefined: nothing to do. Resolves with what is stored,
   * undefined when there is none.
   */
  change(key: string, change: (value: Value) => Value | undefined): Promise<Value | undefined>;
  /** False: it was not there. */
  remove(key: string): Promise<boolean>;
  /** Reads all again, for a decision that must not miss what another process just changed. */
  refresh(): Promise<void>;
}

interface CollectionOptions<Value> {
  readonly state: StateStore;
  readonly prefix: string;
  readonly read: ReadRecord<Value>;
  readonly log: Log;
}

export function createCollection<Value>(options: CollectionOptions<Value>): Collection<Value> {
  return new WatchedCollection<Value>(options);
}

class WatchedCollection<Value> implements Collection<Value> {
  readonly #state: StateStore;
  readonly #prefix: string;
  readonly #read: ReadRecord<Value>;
  readonly #log: Log;
  #entries = new Map<string, StateEntry>();
  /** Records that cannot be read are left out. */
  #values: ReadonlyMap<string, Value> = new Map();
  #ownChanges = 0;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #stopWatching = (): void => undefined;

  constructor({ state, prefix, read, log }: CollectionOptions<Value>) {
    this.#state = state;
    this.#prefix = prefix;
    this.#read = read;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#stopWatching = this.#state.watch(this.#prefix, () => {
      void this.refresh().catch((error: unknown) =>
        accessEvents.peopleUnread(this.#log, { error: errorText(error), prefix: this.#prefix }),
      );
    });
    await this.refresh();
  }

  stop(): void {
    this.#stopWatching();
  }

  values(): ReadonlyMap<string, Value> {
    return this.#values;
  }

  async create(key: string, value: Value): Promise<void> {
    this.#set(key, await this.#state.put(key, value, undefined));
  }

  async change(key: string, change: (value: Value) => Value | undefined): Promise<Value | undefined> {
    return this.#onNewest(key, async (entry) => {
      if (entry === undefined) return undefined;
      const value = this.#read(entry);
      const changed = change(value);
      if (changed === undefined) return value;
      this.#set(key, await this.#state.put(key, changed, entry.revision));
      return changed;
    });
  }

  async remove(key: string): Promise<boolean> {
    return this.#onNewest(key, async (entry) => {
      if (entry === undefined) return false;
      await this.#state.delete(key, entry.revision);
      this.#set(key, undefined);
      return true;
    });
  }

  refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#readAgain = true;
      return this.#reading;
    }
    this.#reading = this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** On what is in memory first, and on what the state has when somebody else was faster. */
  async #onNewest<Result>(key: string, work: (entry: StateEntry | undefined) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const entry = tries === 1 ? (this.#entries.get(key) ?? (await this.#newest(key))) : await this.#newest(key);
      try {
        return await work(entry);
      } catch (thrown) {
        if (!isConflict(thrown) || tries === maxTries) throw thrown;
      }
    }
  }

  async #newest(key: string): Promise<StateEntry | undefined> {
    const entry = await this.#state.get(key);
    this.#set(key, entry);
    return entry;
  }

  #set(key: string, entry: StateEntry | undefined): void {
    this.#ownChanges += 1;
    const value = entry === undefined ? undefined : this.#valueOf(entry);
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
    const values = new Map(this.#values);
    if (value === undefined) values.delete(key);
    else values.set(key, value);
    this.#values = values;
  }

  /** A list that began before an own change may not know it: it is read once more. */
  async #readAll(): Promise<void> {
    do {
      this.#readAgain = false;
      const before = this.#ownChanges;
      const listed = await this.#state.list(this.#prefix);
      if (this.#ownChanges !== before) this.#readAgain = true;
      else this.#showAll(listed);
    } while (this.#readAgain);
  }

  #showAll(entries: readonly StateEntry[]): void {
    const values = new Map<string, Value>();
    for (const entry of entries) {
      const value = this.#valueOf(entry);
      if (value !== undefined) values.set(entry.key, value);
    }
    this.#entries = new Map(entries.map((entry) => [entry.key, entry]));
    this.#values = values;
  }

  /**
   * One record that cannot be read must not lock out everybody else. What is known of the same revision is not read
   * again.
   */
  #valueOf(entry: StateEntry): Value | undefined {
    if (this.#entries.get(entry.key)?.revision === entry.revision) return this.#values.get(entry.key);
    try {
      return this.#read(entry);
    } catch (error) {
      accessEvents.storedPersonUnread(this.#log, { error: errorText(error) });
      return undefined;
    }
  }
}

export function isConflict(thrown: unknown): boolean {
  return isSluiceError(thrown) && thrown.code === 'STATE_CONFLICT';
}
