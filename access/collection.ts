/** All records under one prefix of the state, in memory, as new as about a second. For few and small records: users, roles. */
import { errorText, isSluiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { StateEntry, StateStore } from '../state/contract.js';

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
  let entries = new Map<string, StateEntry>();
  let values = new Map<string, Value>();
  let ownChanges = 0;
  let reading: Promise<void> | undefined;
  let readAgain = false;
  let stopWatching = (): void => undefined;

  const show = (): void => {
    values = new Map([...entries].map(([key, entry]) => [key, entry.value as Value]));
  };
  const set = (key: string, entry: StateEntry | undefined): void => {
    ownChanges += 1;
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
    show();
  };
  /** A list that began before an own change may not know it: it is read once more. */
  const readAll = async (): Promise<void> => {
    do {
      readAgain = false;
      const before = ownChanges;
      const listed = await state.list(prefix);
      if (ownChanges !== before) readAgain = true;
      else entries = new Map(listed.map((entry) => [entry.key, entry]));
    } while (readAgain);
    show();
  };
  const refresh = (): Promise<void> => {
    if (reading !== undefined) {
      readAgain = true;
      return reading;
    }
    reading = readAll().finally(() => { reading = undefined; });
    return reading;
  };
  const newest = async (key: string): Promise<StateEntry | undefined> => {
    const entry = await state.get(key);
    set(key, entry);
    return entry;
  };

  return {
    async start() {
      stopWatching = state.watch(prefix, () => {
        void refresh().catch((error: unknown) => log.warn({ error: errorText(error), prefix }, 'users and roles could not be read again; what was read before stays'));
      });
      await refresh();
    },
    stop: () => stopWatching(),
    values: () => values,
    async create(key, value) {
      set(key, await state.put(key, value, undefined));
    },
    async change(key, change) {
      for (let tries = 1; ; tries += 1) {
        const entry = tries === 1 ? (entries.get(key) ?? (await newest(key))) : await newest(key);
        if (entry === undefined) return undefined;
        const changed = change(entry.value as Value);
        if (changed === undefined) return entry.value as Value;
        try {
          set(key, await state.put(key, changed, entry.revision));
          return changed;
        } catch (thrown) {
          if (!isConflict(thrown) || tries === maxTries) throw thrown;
        }
      }
    },
    async remove(key) {
      for (let tries = 1; ; tries += 1) {
        const entry = tries === 1 ? (entries.get(key) ?? (await newest(key))) : await newest(key);
        if (entry === undefined) return false;
        try {
          await state.delete(key, entry.revision);
          set(key, undefined);
          return true;
        } catch (thrown) {
          if (!isConflict(thrown) || tries === maxTries) throw thrown;
        }
      }
    },
    refresh,
  };
}

export function isConflict(thrown: unknown): boolean {
  return isSluiceError(thrown) && thrown.code === 'STATE_CONFLICT';
}
