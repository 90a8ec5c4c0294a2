/** All records under one prefix of the state, in memory, as new as about a second. For few and small records: users, roles. */
import { errorText, isSluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { StateEntry, StateStore } from '../../state/contract.js';

/** Others change the same record at the same moment this often only when something is broken. */
const maxTries = 10;

export interface Collection<Value> {
  start(): Promise<void>;
  stop(): void;
  /** By key. A change gives a new map: what was derived from it can be kept beside it. */
  values(): ReadonlyMap<string, Value>;
  /** Rejects with STATE_CONFLICT when the key exists. */
  create(key: string, value: Value): Promise<void>;
  /** `change` sees the newest record, maybe more than once; undefined: nothing to do. Resolves with what is kept, undefined when there is none. */
  change(key: string, change: (value: Value) => Value | undefined): Promise<Value | undefined>;
  /** False: it was not there. */
  remove(key: string): Promise<boolean>;
  /** Reads all again, for a decision that must not miss what another process just changed. */
  refresh(): Promise<void>;
}

export function createCollection<Value>(state: StateStore, prefix: string, log: Log): Collection<Value> {
  return new WatchedCollection<Value>(state, prefix, log);
}

class WatchedCollection<Value> implements Collection<Value> {
  readonly #state: StateStore;
  readonly #prefix: string;
  readonly #log: Log;
  #entries = new Map<string, StateEntry>();
  #values = new Map<string, Value>();
  #ownChanges = 0;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #stopWatching = (): void => undefined;

  constructor(state: StateStore, prefix: string, log: Log) {
    this.#state = state;
    this.#prefix = prefix;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#stopWatching = this.#state.watch(this.#prefix, () => {
      void this.refresh().catch((error: unknown) =>
        this.#log.warn(
          { error: errorText(error), prefix: this.#prefix },
          'users and roles could not be read again; what was read before stays',
        ),
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
      const changed = change(entry.value as Value);
      if (changed === undefined) return entry.value as Value;
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
    if (entry === undefined) this.#entries.delete(key);
    else this.#entries.set(key, entry);
    this.#show();
  }

  /** A list that began before an own change may not know it: it is read once more. */
  async #readAll(): Promise<void> {
    do {
      this.#readAgain = false;
      const before = this.#ownChanges;
      const listed = await this.#state.list(this.#prefix);
      if (this.#ownChanges !== before) this.#readAgain = true;
      else this.#entries = new Map(listed.map((entry) => [entry.key, entry]));
    } while (this.#readAgain);
    this.#show();
  }

  #show(): void {
    this.#values = new Map([...this.#entries].map(([key, entry]) => [key, entry.value as Value]));
  }
}

export function isConflict(thrown: unknown): boolean {
  return isSluiceError(thrown) && thrown.code === 'STATE_CONFLICT';
}
