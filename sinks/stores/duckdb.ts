/** The embedded index store: one DuckDB file per index, all behind one worker thread and one memory limit. */
import { statfsSync } from 'node:fs';
import type { Log } from '../../core/log.js';
import { buildMetrics, type BuiltMetrics, type Registry } from '../../core/metrics.js';
import { formatBytes } from '../../core/bytes.js';
import { isSluiceError } from '../../core/errors.js';
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../schemas/query.js';
import type {
  DocumentUpdate,
  FieldType,
  FoundDocument,
  IndexInfo,
  IndexStore,
  StoreCapabilities,
  TombstoneRequest,
  WriteRequest,
  WriteResult,
} from './contract.js';
import { storeError } from './duckdb/failures.js';
import { scanHits } from './duckdb/scan-hits.js';
import type { EngineOptions } from './duckdb/protocol.js';
import { wordDefaults, type WordIndexerOptions } from './duckdb/words/options.js';
import { before, WorkerClient } from './duckdb/worker-client.js';
import { storeMetrics } from './metrics.js';

export interface DuckStoreOptions {
  readonly folder: string;
  readonly memoryBytes: number;
  /** 0: one less than there are cores. */
  readonly threads: number;
  /** The write-ahead log of an index is folded into its file at this size. */
  readonly checkpointBytes: number;
  /** Rows and counts that searches leave for those that come next (default: 64 MiB). */
  readonly keptBytes?: number;
  /** Milliseconds that a small write waits for those of other partitions (default: 0). */
  readonly lingerMs?: number;
  /** Writes are refused before less than this is free on the disk. */
  readonly reserveBytes: number;
  readonly log: Log;
  readonly registry: Registry;
  readonly onLost?: (error: Error) => void;
  /** Most index files open at once; the least used make room. */
  readonly attachedIndices?: number;
  /** Of texts, for searches (default: words of about 50,000 documents together). */
  readonly words?: Partial<WordIndexerOptions>;
  /** For tests. Default: what the file system of the folder says. */
  readonly freeBytes?: () => number;
}

/** Every attached file costs memory for its catalog. A search over more attaches all of them while it runs. */
const defaultAttachedIndices = 64;
const defaultKeptBytes = 64 * 2 ** 20;
/** Bytes of documents that wait for the worker thread at once; parsed they take four times as many. Beyond, the caller is told to come back. */
const waitingBytes = 64 * 2 ** 20;
/** The log and the checkpoint that a write leads to need about this many times its bytes. */
const writeAmplification = 3;

const capabilities: StoreCapabilities = { name: 'embedded', deduplicates: 'offset', shared: false };
const label = { store: 'embedded' } as const;

export function createDuckStore(options: DuckStoreOptions): IndexStore {
  return new DuckStore(options);
}

class DuckStore implements IndexStore {
  readonly #options: DuckStoreOptions;
  readonly #freeBytes: () => number;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;
  #worker: WorkerClient | undefined;
  #waitingBytes = 0;

  constructor(options: DuckStoreOptions) {
    this.#options = options;
    this.#freeBytes = options.freeBytes ?? (() => freeBytesOf(options.folder));
    this.#metrics = buildMetrics(options.registry, storeMetrics);
  }

  capabilities(): StoreCapabilities {
    return capabilities;
  }

  async start(): Promise<void> {
    const {
      folder,
      memoryBytes,
      threads,
      checkpointBytes,
      lingerMs = 0,
      keptBytes = defaultKeptBytes,
      attachedIndices = defaultAttachedIndices,
      reserveBytes,
      words,
      log,
    } = this.#options;
    const engineOptions: EngineOptions = {
      folder,
      memoryBytes,
      threads,
      checkpointBytes,
      lingerMs,
      keptBytes,
      attachedIndices,
      words: { ...wordDefaults, reserveBytes, ...words },
    };
    const worker = new WorkerClient(engineOptions, {
      onLost: (reason) => {
        log.error({ code: 'STORE_UNAVAILABLE', reason }, 'the embedded store has ended');
        this.#options.onLost?.(storeError('STORE_UNAVAILABLE', 'embedded store', reason));
      },
      onWordsFailed: (failure) => {
        this.#metrics.wordFailures.inc(label);
        log.warn(
          failure,
          'words could not be added to the index of words; searches look through the texts, and it is tried again',
        );
      },
    });
    this.#worker = worker;
    const gauges = this.#metrics;
    Object.assign(gauges.keptBytes, { collect: () => gauges.keptBytes.set(label, worker.keptBytes) });
    Object.assign(gauges.wordsBehind, { collect: () => gauges.wordsBehind.set(label, worker.wordsBehind) });
    await worker.call('start', undefined);
  }

  async stop(deadlineMs: number): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    if (worker.lost === undefined) await before(deadlineMs, worker.call('stop', undefined));
    await worker.close();
  }

  createIndex(name: string): Promise<void> {
    return this.#need().call('createIndex', name);
  }

  listIndices(prefix: string): Promise<readonly IndexInfo[]> {
    return this.#need().call('listIndices', prefix);
  }

  async write(request: WriteRequest): Promise<WriteResult> {
    const bytes = request.documents.reduce((sum, document) => sum + document.length, 0);
    const stopTimer = this.#metrics.writeSeconds.startTimer(label);
    try {
      this.#admit(request.index, bytes);
      this.#waitingBytes += bytes;
      try {
        const result = await this.#need().call('write', request);
        this.#metrics.writtenDocuments.inc(label, result.stored);
        return result;
      } finally {
        this.#waitingBytes -= bytes;
      }
    } catch (thrown) {
      this.#metrics.writeErrors.inc({ ...label, code: isSluiceError(thrown) ? thrown.code : 'UNKNOWN' });
      throw thrown;
    } finally {
      stopTimer();
    }
  }

  #admit(index: string, bytes: number): void {
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > waitingBytes)
      throw storeError('STORE_OVERLOADED', index, `${formatBytes(this.#waitingBytes)} waiting`);
    const free = this.#freeBytes();
    if (free - bytes * writeAmplification < this.#options.reserveBytes) {
      throw storeError(
        'STORE_DISK_FULL',
        this.#options.folder,
        `${formatBytes(free)} free, reserve ${formatBytes(this.#options.reserveBytes)}`,
      );
    }
  }

  /** A commit is durable when it resolves. */
  async sync(): Promise<void> {}

  async writeTombstones(_index: string, tombstones: readonly TombstoneRequest[]): Promise<readonly boolean[]> {
    return tombstones.map(() => true);
  }

  read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>> {
    return this.#need().call('read', { index, ids });
  }

  async update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    this.#admit(
      index,
      updates.reduce((sum, { document }) => sum + document.length, 0),
    );
    return this.#need().call('update', { index, updates });
  }

  async checkpoint(index: string): Promise<void> {
    const stopTimer = this.#metrics.checkpointSeconds.startTimer(label);
    await this.#need().call('checkpoint', index);
    stopTimer();
  }

  markers(index: string, topic: string, topicGeneration: number): Promise<ReadonlyMap<number, number>> {
    return this.#need().call('markers', { index, topic, topicGeneration });
  }

  fieldTypes(index: string): Promise<ReadonlyMap<string, FieldType>> {
    return this.#need().call('fieldTypes', index);
  }

  closeIndex(name: string): Promise<void> {
    return this.#need().call('closeIndex', name);
  }

  openIndex(name: string): Promise<void> {
    return this.#need().call('openIndex', name);
  }

  deleteIndex(name: string): Promise<void> {
    return this.#need().call('deleteIndex', name);
  }

  openIndices(prefixes: readonly string[]): Promise<readonly string[]> {
    return this.#need().call('openIndices', prefixes);
  }

  search(request: SearchRequest): Promise<SearchResult> {
    const { signal, ...rest } = request;
    return this.#read(signal, () => this.#need().call('search', rest, signal));
  }

  aggregate(request: AggregateRequest): Promise<AggregateResult> {
    const { signal, ...rest } = request;
    return this.#read(signal, () => this.#need().call('aggregate', rest, signal));
  }

  scan(request: ScanRequest): AsyncIterable<readonly SearchHit[]> {
    return scanHits(this.#need(), request);
  }

  occurringFields(request: ScanRequest): Promise<ReadonlySet<string>> {
    const { signal, ...rest } = request;
    return this.#read(signal, () => this.#need().call('occurringFields', rest, signal));
  }

  async #read<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    if (signal?.aborted) throw storeError('STORE_SEARCH_CANCELLED', 'search');
    const stopTimer = this.#metrics.searchSeconds.startTimer(label);
    this.#metrics.waitingSearches.inc(label);
    try {
      return await work();
    } finally {
      this.#metrics.waitingSearches.dec(label);
      stopTimer();
    }
  }

  /** A committed document is visible. */
  async refresh(): Promise<void> {}

  async scanIds(indices: readonly string[], onIds: (ids: readonly string[]) => void | Promise<void>): Promise<void> {
    for (const index of indices) {
      let fromRow: number | undefined = 0;
      while (fromRow !== undefined) {
        const page: { ids: readonly string[]; nextRow: number | undefined } = await this.#need().call('scanIds', {
          index,
          fromRow,
        });
        if (page.ids.length > 0) await onIds(page.ids);
        fromRow = page.nextRow;
      }
    }
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason: string }> {
    if (this.#worker === undefined || this.#worker.lost !== undefined)
      return { ok: false, reason: this.#worker?.lost ?? 'not started' };
    const free = this.#freeBytes();
    if (free < this.#options.reserveBytes)
      return {
        ok: false,
        reason: `${formatBytes(free)} free on disk, reserve ${formatBytes(this.#options.reserveBytes)}`,
      };
    const { blocked } = await this.#worker.call('health', undefined);
    const reasons = [...blocked].map(([index, reason]) => `${index} is blocked: ${reason}`);
    return { ok: true, reason: reasons.join('; ') || 'ok' };
  }

  #need(): WorkerClient {
    if (this.#worker === undefined) throw storeError('STORE_STOPPED', 'embedded store');
    return this.#worker;
  }
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
