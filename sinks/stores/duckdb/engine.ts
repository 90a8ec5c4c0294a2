/** The store inside its worker thread: requests by name, one method each. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { DocumentUpdate, FieldType, FoundDocument, IndexInfo, WriteRequest, WriteResult } from '../contract.js';
import type { AggregateResult, ScanRequest, SearchHit, SearchRequest, SearchResult } from '../../../schemas/query.js';
import { aggregateIndices, type EngineAggregate } from './aggregate.js';
import { readDocuments } from './by-id.js';
import { Catalog, type IndexEntry } from './catalog.js';
import { isFatal, searchError, storeError, writeError } from './failures.js';
import { fieldType } from './fields.js';
import { createGate } from '../gate.js';
import { markerKey, type IndexFile } from './index-file.js';
import { occurringFields } from './occurring-fields.js';
import type { EngineHealth, EngineMethods, EngineOptions, IdPage, ScanPage, ScanPlaces } from './protocol.js';
import { scanDocuments, scanPlaces } from './scan.js';
import { RunningSearches } from './running-searches.js';
import type { SearchedIndex } from './found.js';
import type { Kept } from './kept.js';
import { searchIndices } from './search.js';
import { mayMatch } from './time-span.js';
import type { WordFigures } from './words/options.js';
import { WordIndexer } from './words/word-indexer.js';
import { WriteQueue } from './write-queue.js';

/** Each search holds one of the process's four threads for file work while it runs: more would keep commits waiting. */
const concurrentSearches = 2;
const waitingSearches = 64;
/** Documents by their ids: of requests, and of replays, which wait rather than fail. */
const concurrentLookups = 1;
/** Of a lookup, which nobody cancels. */
const noSearch = -1;
/** How often memory of searches is looked at that nobody goes on with. */
const sweepMs = 30_000;
const idleIndexMs = 120_000;
/** About 20 MB of what the engine knows of them. */
const freshDocuments = 5_000_000;
/** Ids of one page of a scan. */
const pageRows = 20_000;

type ReadWork<Result> = (
  connection: DuckDBConnection,
  indices: readonly SearchedIndex[],
  skipped: readonly string[],
  kept: Kept,
) => Promise<Result>;

export interface EngineFigures {
  /** Bytes that searches have left for those that come next. */
  readonly onKept: (bytes: number) => void;
  readonly words: WordFigures;
}

export class Engine {
  readonly #catalog: Catalog;
  readonly #writes: WriteQueue;
  readonly #gate = createGate(concurrentSearches, waitingSearches);
  readonly #lookups = createGate(concurrentLookups, Infinity);
  readonly #searches = new RunningSearches();
  readonly #words: WordIndexer;
  readonly #onKept: (bytes: number) => void;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(options: EngineOptions, { onKept, words }: EngineFigures) {
    this.#onKept = onKept;
    this.#catalog = new Catalog(options, () => {
      this.#searches.interruptAll();
    });
    this.#writes = new WriteQueue(this.#catalog, options.lingerMs);
    this.#words = new WordIndexer(
      this.#catalog,
      options.words,
      () => ({ perSecond: this.#writes.rate.perSecond, searches: this.#searches.size }),
      words,
    );
  }

  async start(): Promise<void> {
    await this.#catalog.open();
    this.#sweeping = setInterval(() => {
      this.#sweep().catch(() => undefined);
    }, sweepMs).unref();
    this.#words.start();
  }

  async #sweep(): Promise<void> {
    await this.#catalog.use(() => this.#catalog.database.sweep());
    this.#onKept(this.#catalog.database.kept.bytes);
    await this.#catalog.detachIdle(idleIndexMs, freshDocuments);
  }

  /** Waits for what holds a lock, then closes every file. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#searches.cancelAll();
    await Promise.all([this.#writes.flush(), this.#words.stop()]);
    await Promise.all(
      [...this.#catalog.entries()].map((entry) =>
        entry.exclusive(() => this.#catalog.inTurn(() => this.#catalog.detachLocked(entry))).catch(() => undefined),
      ),
    );
    await this.#catalog.close();
  }

  async halt(): Promise<void> {
    const ended = this.#words.stop();
    await this.#catalog.halt();
    await ended;
  }

  createIndex(name: string): Promise<void> {
    return this.#catalog.create(name);
  }

  async listIndices(prefix: string): Promise<IndexInfo[]> {
    const infos: IndexInfo[] = [];
    for (const entry of this.#catalog.ofPrefix(prefix)) infos.push(await this.#describe(entry));
    return infos;
  }

  async #describe(entry: IndexEntry): Promise<IndexInfo> {
    if (entry.facts === undefined) await this.#catalog.attached(entry).catch(() => undefined);
    const facts = entry.file ?? entry.facts;
    return {
      name: entry.name,
      open: !entry.closed,
      documents: facts?.documents ?? 0,
      bytes: this.#catalog.folder.bytes(entry.name),
      pendingBytes: this.#catalog.pendingBytes(entry),
      createdAt: facts?.createdAt ?? this.#catalog.folder.bornAt(entry.name),
    };
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.#writes.write(request);
  }

  /** Beside the writes: looking through all ids takes long, and what is committed is there for everybody. */
  async read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>> {
    const entry = this.#catalog.need(index);
    const leave = await this.#lookups.enter();
    try {
      // It may have been closed while this waited.
      await this.#catalog.attached(this.#catalog.need(index));
      const found = await this.#readNow(noSearch, [index], (connection, [searched], _, kept) => {
        if (searched === undefined)
          throw storeError(entry.closed ? 'STORE_INDEX_CLOSED' : 'STORE_INDEX_MISSING', index);
        return readDocuments(connection, searched.file, ids, kept.ids);
      });
      return new Map(
        [...found].map(([id, { document, revision, tombstone }]) => [id, { document, revision, tombstone }]),
      );
    } catch (thrown) {
      if (isFatal(thrown)) await this.#catalog.reopen();
      throw writeError(thrown, index);
    } finally {
      leave();
    }
  }

  update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    return this.#writes.update(index, updates);
  }

  async checkpoint(index: string): Promise<void> {
    await this.#withFile(index, (file) => this.#catalog.inTurn(() => file.connection.run(`CHECKPOINT ${file.alias}`)));
  }

  async markers(index: string, topic: string, generation: number): Promise<Map<number, number>> {
    return this.#withFile(index, async (file) => {
      const markers = new Map<number, number>();
      for (const [key, next] of file.markers) {
        const partition = Number.parseInt(key, 10);
        if (key === markerKey(topic, generation, partition)) markers.set(partition, next);
      }
      return markers;
    });
  }

  async fieldTypes(index: string): Promise<Map<string, FieldType>> {
    return this.#withFile(
      index,
      async (file) => new Map([...file.fields.values()].map((field) => [field.name, fieldType(field.kind)])),
    );
  }

  /** Runs between the writes of this index. */
  #withFile<T>(index: string, work: (file: IndexFile) => Promise<T>): Promise<T> {
    const entry = this.#catalog.need(index);
    return entry.exclusive(async () => {
      const file = await this.#catalog.attachLocked(this.#catalog.need(index));
      return this.#catalog
        .use(() => work(file))
        .catch((thrown: unknown) => {
          throw writeError(thrown, index);
        });
    });
  }

  async closeIndex(name: string): Promise<void> {
    const entry = this.#catalog.find(name);
    if (entry === undefined) throw storeError('STORE_INDEX_MISSING', name);
    await entry.exclusive(async () => {
      if (entry.closed) return;
      await this.#catalog.attachLocked(entry).catch(() => undefined);
      const facts = entry.file ?? { documents: 0, createdAt: this.#catalog.folder.bornAt(name) };
      this.#catalog.folder.markClosed(name, { documents: facts.documents, createdAt: facts.createdAt });
      entry.closed = true;
      await this.#catalog.inTurn(() => this.#catalog.detachLocked(entry));
    });
  }

  async openIndex(name: string): Promise<void> {
    const entry = this.#catalog.find(name);
    if (entry === undefined) throw storeError('STORE_INDEX_MISSING', name);
    await entry.exclusive(async () => {
      this.#catalog.folder.markOpen(name);
      entry.closed = false;
    });
  }

  async deleteIndex(name: string): Promise<void> {
    const entry = this.#catalog.find(name);
    if (entry === undefined) return;
    await entry.exclusive(async () => {
      await this.#catalog.inTurn(() => this.#catalog.detachLocked(entry)).catch(() => undefined);
      this.#catalog.folder.remove(name);
      this.#catalog.forget(entry);
    });
  }

  /** Names of the open indices of these sets, by set and number. */
  openIndices(prefixes: readonly string[]): string[] {
    return prefixes.flatMap((prefix) =>
      this.#catalog
        .ofPrefix(prefix)
        .filter((entry) => !entry.closed)
        .map((entry) => entry.name),
    );
  }

  search(id: number, request: Omit<SearchRequest, 'signal'>): Promise<SearchResult> {
    return this.#read(id, this.#ofTime(request), (connection, indices, skipped, kept) =>
      searchIndices(connection, indices, request, skipped, kept),
    );
  }

  aggregate(id: number, request: EngineAggregate): Promise<AggregateResult> {
    return this.#read(id, this.#ofTime(request), (connection, indices, skipped, kept) =>
      aggregateIndices(connection, indices, request, skipped, kept),
    );
  }

  occurringFields(id: number, request: Omit<ScanRequest, 'signal'>): Promise<Set<string>> {
    return this.#read(id, this.#ofTime(request), (connection, indices) =>
      occurringFields(connection, indices, request),
    );
  }

  /** Without those whose rows are known to lie outside of the range of time. */
  #ofTime(request: Pick<SearchRequest, 'indices' | 'from' | 'to'>): string[] {
    return request.indices.filter((name) => {
      const entry = this.#catalog.find(name);
      return entry === undefined || entry.closed || mayMatch((entry.file ?? entry.facts)?.times, request);
    });
  }

  async scanRows(names: readonly string[]): Promise<Map<string, number>> {
    const rows = new Map<string, number>();
    for (const name of new Set(names)) rows.set(name, await this.#withFile(name, async (file) => file.documents));
    return rows;
  }

  scanPlaces(id: number, page: ScanPage): Promise<ScanPlaces> {
    return this.#readAll(id, [page.index], (connection, [index], _, kept) =>
      scanPlaces(connection, index as SearchedIndex, page.request, page, kept),
    );
  }

  scanDocuments(id: number, { wanted, fields }: EngineMethods['scanDocuments']['argument']): Promise<SearchHit[][]> {
    return this.#readAll(
      id,
      wanted.map(({ index }) => index),
      (connection, indices) => scanDocuments(connection, indices, wanted, fields),
    );
  }

  /** Of a scan, which is whole or fails. */
  #readAll<Result>(id: number, names: readonly string[], work: ReadWork<Result>): Promise<Result> {
    return this.#read(id, names, (connection, indices, skipped, kept) => {
      if (skipped.length > 0)
        throw storeError(
          this.#catalog.find(skipped[0] ?? '')?.closed === true ? 'STORE_INDEX_CLOSED' : 'STORE_INDEX_MISSING',
          skipped.join(', '),
        );
      return work(connection, indices, skipped, kept);
    });
  }

  /** A search in its turn, on a connection of its own, which a cancel with this id interrupts. */
  async #read<Result>(id: number, names: readonly string[], work: ReadWork<Result>): Promise<Result> {
    this.#searches.begin(id);
    const leave = await this.#gate.enter().catch((thrown: unknown) => {
      this.#searches.end(id);
      throw thrown;
    });
    try {
      return await this.#readNow(id, names, work);
    } catch (thrown) {
      if (isFatal(thrown)) await this.#catalog.reopen();
      throw this.#searches.isCancelled(id) ? storeError('STORE_SEARCH_CANCELLED', 'search') : searchError(thrown);
    } finally {
      this.#searches.end(id);
      leave();
    }
  }

  async #readNow<Result>(id: number, names: readonly string[], work: ReadWork<Result>): Promise<Result> {
    const { indices, skipped, release } = await this.#borrow(names);
    try {
      return await this.#catalog.use(async () => {
        if (this.#searches.isCancelled(id)) throw storeError('STORE_SEARCH_CANCELLED', 'search');
        const { database } = this.#catalog;
        const connection = await database.connect();
        this.#searches.run(id, connection);
        try {
          return await work(connection, indices, skipped, database.kept);
        } finally {
          this.#onKept(database.kept.bytes);
          this.#searches.rest(id);
          connection.closeSync();
        }
      });
    } finally {
      release();
    }
  }

  /** Keeps the files attached until they are released. */
  async #borrow(
    names: readonly string[],
  ): Promise<{ indices: SearchedIndex[]; skipped: string[]; release: () => void }> {
    const indices: SearchedIndex[] = [];
    const skipped: string[] = [];
    const entries: IndexEntry[] = [];
    for (const name of new Set(names)) {
      const entry = this.#catalog.find(name);
      const file = entry === undefined ? undefined : await this.#attachedNow(entry);
      if (entry === undefined || file === undefined) {
        skipped.push(name);
        continue;
      }
      entry.readers += 1;
      entries.push(entry);
      indices.push({ name, file });
    }
    const release = () => {
      for (const entry of entries) entry.readers -= 1;
    };
    return { indices, skipped, release };
  }

  /** Undefined when the index cannot be read. A file may be detached again before the caller learns that it is attached. */
  async #attachedNow(entry: IndexEntry): Promise<IndexFile | undefined> {
    for (let attempt = 0; attempt < 5 && !entry.closed; attempt += 1) {
      const file = await this.#catalog.attached(entry).catch(() => undefined);
      if (file === undefined || entry.file === file) return file;
    }
    return undefined;
  }

  /** The request with this id is a search that waits or runs. */
  cancel(id: number): void {
    this.#searches.cancel(id);
  }

  async scanIds(index: string, fromRow: number): Promise<IdPage> {
    return this.#withFile(index, async (file) => {
      const end = fromRow + pageRows;
      const sql = `SELECT _id FROM ${file.alias}.documents WHERE rowid >= ${fromRow} AND rowid < ${end}`;
      const rows = (await file.connection.runAndReadAll(sql)).getRows();
      return { ids: rows.map((row) => row[0] as string), nextRow: end < file.documents ? end : undefined };
    });
  }

  health(): EngineHealth {
    const blocked = new Map<string, string>();
    for (const entry of this.#catalog.entries())
      if (entry.blocked !== undefined) blocked.set(entry.name, entry.blocked);
    return { blocked };
  }
}
