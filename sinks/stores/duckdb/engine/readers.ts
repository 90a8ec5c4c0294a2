/** Searches in their turn, each on a connection of its own, over files that stay attached until it has ended. */
import { createSemaphore } from '../../../../core/semaphore.js';
import { storeErrors } from '../../errors.js';
import { isFatal, searchError, storeError, writeError } from '../failures.js';
import type { Catalog, IndexEntry } from '../files/catalog.js';
import type { IndexFile } from '../files/index-file.js';
import type { SearchedIndex } from '../search/found.js';
import type { Reading } from '../search/reading.js';
import { RunningSearches, type RunningSearch } from './running-searches.js';

/** Each search holds one of the process's four threads for file work while it runs: more would keep commits waiting. */
const concurrentSearches = 2;
const waitingSearches = 64;
/** Documents by their ids: for requests, and for replays, which wait rather than fail. */
const concurrentLookups = 1;

type Work<Result> = (reading: Reading) => Promise<Result>;

export class Readers {
  readonly searches = new RunningSearches();
  readonly #catalog: Catalog;
  readonly #onRetained: (bytes: number) => void;
  readonly #running = createSemaphore(concurrentSearches);
  readonly #lookups = createSemaphore(concurrentLookups);

  constructor(catalog: Catalog, onRetained: (bytes: number) => void) {
    this.#catalog = catalog;
    this.#onRetained = onRetained;
  }

  async search<Result>(signal: AbortSignal | undefined, names: readonly string[], work: Work<Result>): Promise<Result> {
    if (this.#running.waiting() >= waitingSearches)
      throw storeErrors.create('STORE_OVERLOADED', { got: `${waitingSearches} requests waiting` });
    const search = this.searches.begin(signal);
    return this.#running.run(async () => {
      try {
        return await this.#read(search, names, work);
      } catch (thrown) {
        if (isFatal(thrown)) await this.#catalog.reopen();
        throw search.cancelled ? storeError('STORE_SEARCH_CANCELLED', 'search') : searchError(thrown);
      } finally {
        this.searches.end(search);
      }
    });
  }

  /** Rejects when one of the indices cannot be read. */
  searchAll<Result>(signal: AbortSignal | undefined, names: readonly string[], work: Work<Result>): Promise<Result> {
    return this.search(signal, names, (reading) => {
      const [missing] = reading.skipped;
      if (missing === undefined) return work(reading);
      const code = this.#catalog.find(missing)?.closed === true ? 'STORE_INDEX_CLOSED' : 'STORE_INDEX_MISSING';
      throw storeError(code, reading.skipped.join(', '));
    });
  }

  /**
   * Beside the writes: looking through all ids takes long, and what is committed is there for everybody. Nobody cancels
   * it.
   */
  async lookUp<Result>(
    index: string,
    work: (reading: Reading, searched: SearchedIndex) => Promise<Result>,
  ): Promise<Result> {
    const entry = this.#catalog.need(index);
    return this.#lookups.run(() => this.#lookUpNow(entry, work));
  }

  async #lookUpNow<Result>(
    entry: IndexEntry,
    work: (reading: Reading, searched: SearchedIndex) => Promise<Result>,
  ): Promise<Result> {
    const index = entry.name;
    try {
      // It may have been closed while this waited.
      await this.#catalog.attached(this.#catalog.need(index));
      return await this.#read(undefined, [index], async (reading) => {
        const [searched] = reading.indices;
        if (searched === undefined)
          throw storeError(entry.closed ? 'STORE_INDEX_CLOSED' : 'STORE_INDEX_MISSING', index);
        return work(reading, searched);
      });
    } catch (thrown) {
      if (isFatal(thrown)) await this.#catalog.reopen();
      throw writeError(thrown, index);
    }
  }

  async #read<Result>(
    search: RunningSearch | undefined,
    names: readonly string[],
    work: Work<Result>,
  ): Promise<Result> {
    const { indices, skipped, release } = await this.#borrow(names);
    try {
      return await this.#catalog.use(async () => {
        if (search?.cancelled === true) throw storeError('STORE_SEARCH_CANCELLED', 'search');
        const { database } = this.#catalog;
        const { retained } = database;
        const connection = await database.connect();
        if (search !== undefined) search.connection = connection;
        try {
          return await work({ connection, indices, skipped, retained });
        } finally {
          this.#onRetained(retained.bytes);
          if (search !== undefined) search.connection = undefined;
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

  /**
   * Undefined when the index cannot be read. A file may be detached again before the caller learns that it is attached.
   */
  async #attachedNow(entry: IndexEntry): Promise<IndexFile | undefined> {
    for (let attempt = 0; attempt < 5 && !entry.closed; attempt += 1) {
      const file = await this.#catalog.attached(entry).catch(() => undefined);
      if (file === undefined || entry.file === file) return file;
    }
    return undefined;
  }
}
