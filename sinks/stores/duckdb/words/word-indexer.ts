/**
 * Puts the words of what has been written into the tables of words, behind the writes and beside the searches: a
 * segment of each attached index at a time, while little enough comes in. Rows that are not there yet are looked
 * through by each search; nothing else depends on it, so what fails here is told, and tried again later.
 */
import { statfsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Catalog, IndexEntry } from '../files/catalog.js';
import { errorText } from '../../../../core/errors.js';
import { formatBytes } from '../../../../core/bytes.js';
import { endIfDamaged, isFatal, storeError } from '../failures.js';
import type { IndexFile } from '../files/index-file.js';
import { buildSegment } from './build-segment.js';
import type { WordFigures, WordIndexerOptions } from './options.js';
import { insertSegment, uncovered, type RowRange } from './segments.js';

/** What the store has to do besides. */
interface Load {
  /** Documents that are written. */
  readonly perSecond: number;
  /** Searches that wait or run. */
  readonly searches: number;
}

/** Fewer rows than a segment's eighth are looked through as fast. */
const leastShare = 8;
const afterFailureMs = 60_000;
/** Ample for the words of one segment, in the write-ahead log and in the file. */
const segmentBytes = 64 * 2 ** 20;

/** The index is being changed or let go. */
class GivenUp extends Error {}

export class WordIndexer {
  readonly #catalog: Catalog;
  readonly #options: WordIndexerOptions;
  readonly #load: () => Load;
  readonly #told: WordFigures;
  readonly #seen = new WeakMap<IndexFile, { documents: number; at: number }>();
  readonly #stopping = new AbortController();
  /** When an index that failed is tried again, milliseconds of the monotonic clock; the others go on. */
  readonly #again = new WeakMap<IndexEntry, number>();
  #running: Promise<void> = Promise.resolve();
  #next = 1;

  constructor(catalog: Catalog, options: WordIndexerOptions, load: () => Load, told: WordFigures) {
    this.#catalog = catalog;
    this.#options = options;
    this.#load = load;
    this.#told = told;
  }

  start(): void {
    if (this.#options.segmentRows > 0) this.#running = this.#run().catch(() => undefined);
  }

  /** Resolves when it has let go of everything. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let restMs = this.#options.everyMs;
      try {
        const began = performance.now();
        if (await this.#indexSome()) restMs = this.#isAlone() ? 0 : performance.now() - began;
      } catch {
        // Told, and tried again.
      }
      await wait(restMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Otherwise as long as it takes to make a segment is left to the others after it. */
  #isAlone(): boolean {
    const { perSecond, searches } = this.#load();
    return perSecond === 0 && searches === 0;
  }

  /** True when there was something to do. */
  async #indexSome(): Promise<boolean> {
    let behind = 0;
    let chosen: { readonly entry: IndexEntry; readonly file: IndexFile; readonly range: RowRange } | undefined;
    for (const entry of this.#catalog.entries()) {
      const { file } = entry;
      if (file === undefined || entry.closed) continue;
      const gaps = uncovered(file.words, { firstRow: 0, endRow: file.documents });
      behind += gaps.reduce((sum, { firstRow, endRow }) => sum + endRow - firstRow, 0);
      const range = performance.now() < (this.#again.get(entry) ?? 0) ? undefined : this.#rangeOf(file, gaps);
      // What was written last is looked for most.
      if (range !== undefined && (chosen === undefined || file.times.most > chosen.file.times.most))
        chosen = { entry, file, range };
    }
    this.#told.onBehind(behind);
    if (chosen === undefined || this.#load().perSecond > this.#options.mostPerSecond) return false;
    const { entry, file, range } = chosen;
    try {
      this.#assertSpace();
      await this.#index(entry, file, range);
    } catch (thrown) {
      if (thrown instanceof GivenUp) return false;
      this.#again.set(entry, performance.now() + afterFailureMs);
      if (!this.#stopping.signal.aborted) this.#told.onFailed({ index: entry.name, reason: errorText(thrown) });
    }
    return true;
  }

  #assertSpace(): void {
    const { path } = this.#catalog.folder;
    const { bavail, bsize } = statfsSync(path);
    const needed = this.#options.reserveBytes + segmentBytes;
    if (bavail * bsize < needed)
      throw storeError('STORE_DISK_FULL', path, `${formatBytes(bavail * bsize)} free, ${formatBytes(needed)} needed`);
  }

  #rangeOf(file: IndexFile, gaps: readonly RowRange[]): RowRange | undefined {
    const { segmentRows, idleMs } = this.#options;
    const before = this.#seen.get(file);
    const seen = before?.documents === file.documents ? before : { documents: file.documents, at: performance.now() };
    this.#seen.set(file, seen);
    const isIdle = performance.now() - seen.at > idleMs;
    const least = (endRow: number): number =>
      endRow === file.documents && !isIdle ? segmentRows : segmentRows / leastShare;
    const gap = gaps.findLast(({ firstRow, endRow }) => endRow - firstRow >= least(endRow));
    return gap === undefined
      ? undefined
      : { firstRow: gap.firstRow, endRow: Math.min(gap.endRow, gap.firstRow + segmentRows) };
  }

  async #index(entry: IndexEntry, file: IndexFile, range: RowRange): Promise<void> {
    const { changes } = file;
    const isStill = (): boolean => entry.file === file && file.changes === changes && !this.#stopping.signal.aborted;
    const assertGoesOn = (): void => {
      if (!isStill()) throw new GivenUp();
    };
    const table = `words_${this.#next++}`;
    const connection = await this.#catalog.database.connect();
    try {
      assertGoesOn();
      entry.readers += 1;
      const built = await this.#catalog
        .use(() =>
          buildSegment(connection, file, { range, table, maxPostings: this.#options.segmentPostings, assertGoesOn }),
        )
        .finally(() => {
          entry.readers -= 1;
        });
      await entry.exclusive(() =>
        this.#catalog.inTurn(async () => {
          assertGoesOn();
          try {
            await this.#catalog.use(async () => {
              await file.connection.run('BEGIN');
              await insertSegment(file.connection, file.alias, built.segment, `memory.main.${table}`);
              await file.connection.run('COMMIT');
            });
            this.#catalog.addSegment(file, built.segment);
          } catch (thrown) {
            endIfDamaged(thrown);
            // Whether it is there is read when the file is attached again.
            await this.#catalog.detachLocked(entry).catch(() => undefined);
            throw thrown;
          }
        }),
      );
    } catch (thrown) {
      if (isFatal(thrown)) await this.#catalog.reopen();
      throw thrown;
    } finally {
      await connection.run(`DROP TABLE IF EXISTS memory.main.${table}`).catch(() => undefined);
      connection.closeSync();
    }
  }
}
