/** All indices of the folder, which of them are attached, and the one engine instance below them. */
import { isSluiceError, toError } from '../../../../core/errors.js';
import { createSemaphore, type Semaphore } from '../../../../core/semaphore.js';
import { indexNameRule, indicesOf, isIndexName } from '../../../../schemas/index-names.js';
import { Database } from './database.js';
import { capacityOf } from './capacity.js';
import { isFatal, storeError } from '../failures.js';
import { IndexFolder, type IndexFacts } from './folder.js';
import { IndexFile } from './index-file.js';
import type { EngineOptions } from '../engine/contract.js';
import { pendingBytes, type WordSegment } from '../words/segments.js';

export class IndexEntry {
  readonly name: string;
  closed: boolean;
  file: IndexFile | undefined;
  /** As of the last time the file was attached. */
  facts: IndexFacts | undefined;
  /** Why the file cannot be attached. */
  blocked: string | undefined;
  /** Searches that read the file. */
  readers = 0;
  lastUsed = 0;
  /** Milliseconds of the monotonic clock. */
  usedAt = 0;
  /** Tasks that hold or wait for the lock. */
  waiting = 0;
  #lock: Promise<unknown> = Promise.resolve();

  constructor(name: string, closedFacts: IndexFacts | undefined) {
    this.name = name;
    this.closed = closedFacts !== undefined;
    this.facts = closedFacts;
  }

  /** Writes, attaching and detaching of one index happen one after the other. */
  exclusive<T>(task: () => Promise<T>): Promise<T> {
    this.waiting += 1;
    const run = this.#lock.then(task).finally(() => {
      this.waiting -= 1;
    });
    this.#lock = run.catch(() => undefined);
    return run;
  }
}

/** Searches on a file that is to be detached get this long to end by themselves. */
const readersGraceMs = 2000;

export class Catalog {
  readonly folder: IndexFolder;
  readonly #options: EngineOptions;
  readonly #entries = new Map<string, IndexEntry>();
  readonly #interruptReaders: () => void;
  readonly #transactions: Semaphore;
  #database: Database | undefined;
  #reopening: Promise<void> | undefined;
  /** Operations that use the instance. */
  #running = 0;
  #halted = false;
  #uses = 0;
  /** The one that was made or read last, of any index. */
  #segment: WordSegment | undefined;

  constructor(options: EngineOptions, interruptReaders: () => void) {
    this.#options = options;
    this.#interruptReaders = interruptReaders;
    this.folder = new IndexFolder(options.folder);
    this.#transactions = createSemaphore(capacityOf(options.memoryBytes, 1).transactions);
  }

  async open(): Promise<void> {
    for (const name of this.folder.open()) this.#entries.set(name, new IndexEntry(name, this.folder.closedFacts(name)));
    this.#database = await this.use(() => Database.open(this.#options));
  }

  get database(): Database {
    if (this.#database === undefined) throw storeError('STORE_STOPPED', 'embedded store');
    return this.#database;
  }

  entries(): IterableIterator<IndexEntry> {
    return this.#entries.values();
  }

  /** Those whose name is `<prefix>_<n>`, by n ascending. */
  ofPrefix(prefix: string): IndexEntry[] {
    return indicesOf(prefix, this.#entries.values(), (entry) => entry.name);
  }

  find(name: string): IndexEntry | undefined {
    return this.#entries.get(name);
  }

  /** The entry of an index that can be written and read. */
  need(name: string): IndexEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw storeError('STORE_INDEX_MISSING', name);
    if (entry.closed) throw storeError('STORE_INDEX_CLOSED', name);
    return entry;
  }

  async create(name: string): Promise<void> {
    if (!isIndexName(name)) throw storeError('STORE_INDEX_NAME_INVALID', name, `allowed: ${indexNameRule}`);
    const known = this.#entries.get(name);
    if (known !== undefined) return;
    const entry = new IndexEntry(name, undefined);
    this.#entries.set(name, entry);
    try {
      await this.attached(entry);
      this.folder.sync();
    } catch (thrown) {
      this.#entries.delete(name);
      throw thrown;
    }
  }

  /** What the words that an attached index does not have yet will take, about. */
  pendingBytes({ file }: IndexEntry): number {
    return file === undefined || this.#options.words.segmentRows === 0
      ? 0
      : pendingBytes(file.words, file.documents, this.#segment);
  }

  /** Bytes of an index, with the words that it does not have yet. */
  bytes(entry: IndexEntry): number {
    return this.folder.bytes(entry.name) + this.pendingBytes(entry);
  }

  /** The words of these rows are in the index now. */
  addSegment(file: IndexFile, segment: WordSegment): void {
    file.words = [...file.words, segment].sort((one, other) => one.firstRow - other.firstRow);
    this.#segment = segment;
  }

  forget(entry: IndexEntry): void {
    this.#entries.delete(entry.name);
  }

  /** Runs work that uses the instance; waits while it is being opened anew. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    while (this.#reopening !== undefined) await this.#reopening;
    if (this.#halted) throw storeError('STORE_STOPPED', 'embedded store');
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  /**
   * Runs work that writes to a file, its checkpoint included, in its turn. The caller holds the entry's lock, and no
   * other turn.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#transactions.run(work);
  }

  /** Resolves when nothing uses the instance, and nothing will any more: the thread may end. */
  async halt(): Promise<void> {
    this.#halted = true;
    while (this.#running > 0) {
      this.#interruptReaders();
      await pause();
    }
  }

  /** Attaches when needed. The caller holds no lock of the entry. */
  attached(entry: IndexEntry): Promise<IndexFile> {
    return entry.file === undefined
      ? entry.exclusive(() => this.attachLocked(entry))
      : Promise.resolve(this.#touch(entry, entry.file));
  }

  /** The caller holds the entry's lock. */
  async attachLocked(entry: IndexEntry): Promise<IndexFile> {
    if (entry.file !== undefined) return this.#touch(entry, entry.file);
    await this.#makeRoom();
    try {
      const file = await this.use(() => IndexFile.attach(this.database, this.folder.file(entry.name)));
      entry.file = file;
      this.#segment ??= file.words.at(-1);
      entry.blocked = undefined;
      entry.facts = factsOf(file);
      return this.#touch(entry, file);
    } catch (thrown) {
      if (isFatal(thrown)) await this.reopen();
      entry.blocked = toError(thrown).message.slice(0, 500);
      if (isSluiceError(thrown)) throw thrown;
      throw storeError('STORE_INDEX_BLOCKED', entry.name, entry.blocked);
    }
  }

  /** The caller holds the entry's lock. Readers end first. */
  async detachLocked(entry: IndexEntry): Promise<void> {
    const file = entry.file;
    if (file === undefined) return;
    entry.file = undefined;
    entry.facts = factsOf(file);
    const graceEnd = performance.now() + readersGraceMs;
    while (entry.readers > 0) {
      if (performance.now() > graceEnd) this.#interruptReaders();
      await pause();
    }
    await this.use(() => file.detach());
  }

  /**
   * What the engine knows of a file takes memory outside of its limit, a few bytes for each document that it has
   * written: a file that nobody has written or searched for this long is let go, and one that has got so many documents
   * is attached anew, with what is known of them left on the disk.
   */
  async detachIdle(idleMs: number, freshDocuments: number): Promise<void> {
    for (const entry of this.#entries.values()) {
      const isIdle = (): boolean =>
        entry.file !== undefined && entry.readers === 0 && performance.now() - entry.usedAt > idleMs;
      const isGrown = (): boolean =>
        entry.file !== undefined &&
        entry.readers === 0 &&
        entry.file.documents - entry.file.documentsBefore > freshDocuments;
      if (!(isIdle() && entry.waiting === 0) && !isGrown()) continue;
      await entry.exclusive(() =>
        this.inTurn(async () => {
          const anew = isGrown();
          if (!anew && !isIdle()) return;
          await this.detachLocked(entry);
          if (anew) await this.attachLocked(entry);
        }),
      );
    }
  }

  /**
   * Closes the instance and opens a new one, in which nothing is attached: an engine that met a fatal error refuses
   * everything.
   */
  reopen(): Promise<void> {
    this.#reopening ??= this.#replaceDatabase().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #replaceDatabase(): Promise<void> {
    this.#interruptReaders();
    while (this.#running > 0) await pause();
    await this.close();
    this.#database = await Database.open(this.#options);
  }

  /** Nothing may run any more. */
  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    for (const entry of this.#entries.values()) {
      const file = entry.file;
      entry.file = undefined;
      if (file === undefined) continue;
      entry.facts = factsOf(file);
      await file.detach().catch(() => undefined);
    }
    database?.close();
  }

  async #makeRoom(): Promise<void> {
    const attached = [...this.#entries.values()].filter((entry) => entry.file !== undefined);
    if (attached.length < this.#options.attachedIndices) return;
    const idle = attached
      .filter((entry) => entry.waiting === 0 && entry.readers === 0)
      .sort((a, b) => a.lastUsed - b.lastUsed)[0];
    if (idle !== undefined) await idle.exclusive(() => this.detachLocked(idle));
  }

  #touch(entry: IndexEntry, file: IndexFile): IndexFile {
    this.#uses += 1;
    entry.lastUsed = this.#uses;
    entry.usedAt = performance.now();
    return file;
  }
}

function factsOf({ documents, createdAt, times }: IndexFile): IndexFacts {
  return { documents, createdAt, times };
}

/** Reopening and detaching are rare; looking every few milliseconds is simpler than a signal from each operation. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}
