/** State of one process on one machine, in LevelDB. Every put is synced before it resolves. */
import { withinDeadline } from '../core/time/deadline.js';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { formatBytes } from '../core/bytes.js';
import { errorText, isSluiceError } from '../core/errors.js';
import { formatVersions } from '../core/formats/versions.js';
import { bringUpToDate } from '../core/formats/migrate.js';
import { readStamp } from '../core/formats/stamp.js';
import type { Log } from '../core/log.js';
import type { StateEntry, StateStore } from './contract.js';
import { stateErrors } from './errors.js';
import { stateEvents } from './events.js';

interface LevelStateOptions {
  readonly folder: string;
  readonly log: Log;
  /**
   * Free disk space that puts never use. LevelDB on a full disk does not only refuse a write: until there is room it
   * cannot be opened again.
   */
  readonly reserveBytes?: number;
}

/**
 * Room for LevelDB to fold its log into a table, a few times over: it writes a table of 4 MiB before it removes the
 * log.
 */
const defaultReserveBytes = 16 * 2 ** 20;

/** As long as an id of OpenSearch may be: both adapters take the same keys. */
const maxKeyBytes = 512;
const startsKey = 'meta:starts';
const formatKey = 'meta:format';
const entryKey = (key: string) => `entry:${key}`;

interface Stored {
  readonly revision: string;
  readonly value: unknown;
}

interface Watcher {
  readonly prefix: string;
  readonly onChange: () => void;
  due: boolean;
}

export function createLevelState(options: LevelStateOptions): StateStore {
  return new LevelState(options);
}

/** Entries that one step of a list reads: a promise for each would cost more than the reading. */
const pageEntries = 256;

class LevelState implements StateStore {
  readonly #folder: string;
  readonly #log: Log;
  readonly #reserveBytes: number;
  readonly #watchers = new Set<Watcher>();
  /** The last change of each key under way: changes of one key follow one another. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #database: Promise<ClassicLevel> | undefined;
  #running = false;
  /** Revisions are start and count: no start and no put shares one, also after an entry was deleted and made again. */
  #starts = 0;
  #changes = 0;

  constructor({ folder, log, reserveBytes = defaultReserveBytes }: LevelStateOptions) {
    this.#folder = folder;
    this.#log = log;
    this.#reserveBytes = reserveBytes;
  }

  async start(): Promise<void> {
    try {
      await mkdir(dirname(this.#folder), { recursive: true });
      this.#database = this.#open();
      const database = await this.#database;
      await this.#bringUpToDate(database);
      this.#starts = Number((await database.get(startsKey)) ?? 0) + 1;
      await database.put(startsKey, String(this.#starts), { sync: true });
      this.#running = true;
    } catch (thrown) {
      await this.#close();
      if (isSluiceError(thrown)) throw thrown;
      throw stateErrors.create('STATE_FOLDER_UNUSABLE', { place: this.#folder, got: errorText(thrown), cause: thrown });
    }
  }

  /** The lock of LevelDB keeps others out. */
  async #bringUpToDate(database: ClassicLevel): Promise<void> {
    const place = `${this.#folder} (${formatKey})`;
    const read = async () => {
      const text = await database.get(formatKey);
      return text === undefined ? undefined : readStamp(JSON.parse(text), place);
    };
    const write = async (stamp: object) => {
      await database.put(formatKey, JSON.stringify(stamp), { sync: true });
      return true;
    };
    const stamps = { place, read, write };
    await bringUpToDate({ format: formatVersions.stateFolder, stamps, steps: {}, log: this.#log });
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#running = false;
    await withinDeadline(Promise.all(this.#turns.values()), deadlineMs);
    this.#watchers.clear();
    await this.#close();
  }

  async get(key: string): Promise<StateEntry | undefined> {
    this.#assertUsable(key);
    const text = await this.#read((database) => database.get(entryKey(key)));
    return text === undefined ? undefined : parseEntry(key, text);
  }

  put(key: string, value: unknown, expected: string | undefined): Promise<StateEntry> {
    return this.#inTurn(key, async () => {
      const json: string | undefined = JSON.stringify(value);
      if (json === undefined) throw stateErrors.create('STATE_VALUE_INVALID', { place: key, got: typeof value });
      await this.#expect(key, expected);
      await this.#assertRoom(key, json.length);
      this.#changes += 1;
      const revision = `${this.#starts}.${this.#changes}`;
      const text = `{"revision":"${revision}","value":${json}}`;
      await this.#write(
        key,
        (database) => database.put(entryKey(key), text, { sync: true }),
        (found) => found?.revision === revision,
      );
      return parseEntry(key, text);
    });
  }

  delete(key: string, expected: string): Promise<void> {
    return this.#inTurn(key, async () => {
      await this.#expect(key, expected);
      await this.#write(
        key,
        (database) => database.del(entryKey(key), { sync: true }),
        (found) => found === undefined,
      );
    });
  }

  async list(prefix: string): Promise<readonly StateEntry[]> {
    this.#assertUsable(`${prefix}.`);
    return this.#read(async (database) => {
      const entries: StateEntry[] = [];
      const iterator = database.iterator({ gte: entryKey(prefix) });
      try {
        for (;;) {
          const page = await iterator.nextv(pageEntries);
          for (const [key, text] of page) {
            if (!key.startsWith(entryKey(prefix))) return entries;
            entries.push(parseEntry(key.slice(entryKey('').length), text));
          }
          if (page.length === 0) return entries;
        }
      } finally {
        await iterator.close();
      }
    });
  }

  watch(prefix: string, onChange: () => void): () => void {
    const watcher: Watcher = { prefix, onChange, due: false };
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  async #inTurn<Result>(key: string, change: () => Promise<Result>): Promise<Result> {
    this.#assertUsable(key);
    const before = this.#turns.get(key) ?? Promise.resolve();
    const result = before.then(change);
    const turn = result
      .catch(() => {})
      .finally(() => {
        if (this.#turns.get(key) === turn) this.#turns.delete(key);
      });
    this.#turns.set(key, turn);
    const done = await result;
    this.#announce(key);
    return done;
  }

  async #expect(key: string, expected: string | undefined): Promise<void> {
    const text = await this.#read((database) => database.get(entryKey(key)));
    const found = text === undefined ? undefined : parseEntry(key, text).revision;
    if (found === expected) return;
    throw stateErrors.create('STATE_CONFLICT', {
      place: key,
      got: `revision ${found ?? 'none'}`,
      allowed: `revision ${expected ?? 'none'}`,
    });
  }

  async #assertRoom(key: string, bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize - bytes >= this.#reserveBytes) return;
    throw stateErrors.create('STATE_WRITE_FAILED', {
      place: key,
      got: `${formatBytes(bavail * bsize)} free`,
      allowed: `${formatBytes(this.#reserveBytes)} stay free`,
    });
  }

  async #read<Result>(read: (database: ClassicLevel) => Promise<Result>): Promise<Result> {
    try {
      return await read(await this.#opened());
    } catch (thrown) {
      if (isSluiceError(thrown)) throw thrown;
      throw stateErrors.create('STATE_UNAVAILABLE', { place: this.#folder, got: errorText(thrown), cause: thrown });
    }
  }

  /**
   * After a write that failed LevelDB takes no further one, and does not know whether this one will be there when it is
   * opened again: it is opened again at once, and the entry tells.
   */
  async #write(
    key: string,
    write: (database: ClassicLevel) => Promise<void>,
    happened: (found: StateEntry | undefined) => boolean,
  ): Promise<void> {
    const database = await this.#opened();
    try {
      await write(database);
    } catch (thrown) {
      stateEvents.stateUnwritten(this.#log, { key }, errorText(thrown));
      await this.#reopen(database);
      const text = await this.#read((reopened) => reopened.get(entryKey(key)));
      if (!happened(text === undefined ? undefined : parseEntry(key, text))) {
        throw stateErrors.create('STATE_WRITE_FAILED', { place: key, got: errorText(thrown), cause: thrown });
      }
    }
  }

  async #reopen(broken: ClassicLevel): Promise<void> {
    if ((await this.#database?.catch(() => undefined)) !== broken) return;
    this.#database = broken.close().then(() => this.#open());
    await this.#database.catch(() => {});
  }

  /** The open database; one that could not be opened again is tried again. */
  async #opened(): Promise<ClassicLevel> {
    try {
      return await (this.#database ?? Promise.reject(stateErrors.create('STATE_NOT_STARTED')));
    } catch (thrown) {
      if (!this.#running) throw thrown;
      this.#database = this.#open();
      return this.#database.catch((again: unknown) => {
        throw stateErrors.create('STATE_UNAVAILABLE', { place: this.#folder, got: errorText(again), cause: again });
      });
    }
  }

  async #open(): Promise<ClassicLevel> {
    const database = new ClassicLevel(this.#folder);
    try {
      await database.open();
      return database;
    } catch (thrown) {
      const inUse =
        thrown instanceof Error &&
        thrown.cause instanceof Error &&
        'code' in thrown.cause &&
        thrown.cause.code === 'LEVEL_LOCKED';
      throw inUse ? stateErrors.create('STATE_FOLDER_IN_USE', { place: this.#folder, cause: thrown }) : thrown;
    }
  }

  async #close(): Promise<void> {
    const database = await this.#database?.catch(() => undefined);
    this.#database = undefined;
    await database?.close();
  }

  #assertUsable(key: string): void {
    if (!this.#running) throw stateErrors.create('STATE_NOT_STARTED');
    const bytes = Buffer.byteLength(key);
    if (bytes === 0 || bytes > maxKeyBytes)
      throw stateErrors.create('STATE_KEY_INVALID', { got: `${bytes} bytes`, allowed: `1 to ${maxKeyBytes} bytes` });
  }

  /** Changes of one turn of the event loop are told once. */
  #announce(key: string): void {
    for (const watcher of this.#watchers) {
      if (watcher.due || !key.startsWith(watcher.prefix)) continue;
      watcher.due = true;
      setImmediate(() => {
        watcher.due = false;
        if (!this.#watchers.has(watcher)) return;
        try {
          watcher.onChange();
        } catch (thrown) {
          stateEvents.stateListenerFailed(this.#log, errorText(thrown));
        }
      });
    }
  }
}

function parseEntry(key: string, text: string): StateEntry {
  const { revision, value } = JSON.parse(text) as Stored;
  return { key, value, revision };
}
