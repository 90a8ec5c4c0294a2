/** The embedded index store: one DuckDB file per index, all behind one worker thread and one memory limit. */
import { withinDeadline } from '../../../core/time/deadline.js';
import { statfsSync } from 'node:fs';
import type { Log } from '../../../core/log.js';
import { buildMetrics, type BuiltMetrics, type Registry } from '../../../core/metrics.js';
import { formatBytes } from '../../../core/bytes.js';
import { leastCapabilities, type IndexStore, type StoreCapabilities, type StoreIndices } from '../contract.js';
import { storeMetrics } from '../metrics.js';
import { DuckDocuments } from './documents.js';
import type { EngineOptions } from './engine/contract.js';
import { storeError } from './failures.js';
import { DuckQueries } from './queries.js';
import { wordDefaults, type WordIndexerOptions } from './words/options.js';
import { remoteGroup, type CallEngine } from './worker/remote.js';
import { WorkerClient } from './worker/worker-client.js';
import { storeEvents } from '../events.js';

export interface DuckStoreOptions {
  readonly folder: string;
  readonly memoryBytes: number;
  /** 0: one less than there are cores. */
  readonly threads: number;
  /** The write-ahead log of an index is folded into its file at this size. */
  readonly checkpointBytes: number;
  /** Rows and counts that searches leave for those that come next (default: 64 MiB). */
  readonly retainedBytes?: number;
  /** Milliseconds that a small write waits for those of other partitions (default: 0). */
  readonly lingerMs?: number;
  /** Writes are refused before less than this is free on the disk. */
  readonly reserveBytes: number;
  readonly log: Log;
  readonly registry: Registry;
  readonly onLost?: (error: Error) => void;
  /** Most index files open at once; the least used make room. */
  readonly attachedIndices?: number;
  /** The index of words (default: segments of about 50,000 documents). */
  readonly words?: Partial<WordIndexerOptions>;
  /** For tests. Default: what the file system of the folder says. */
  readonly freeBytes?: () => number;
}

/** Every attached file costs memory for its catalog. A search over more attaches all of them while it runs. */
const defaultAttachedIndices = 64;
const defaultKeptBytes = 64 * 2 ** 20;
const capabilities: StoreCapabilities = {
  ...leastCapabilities,
  name: 'embedded',
  deduplicates: 'offset',
  checkpoints: true,
};
const label = { store: 'embedded' } as const;

export function createDuckStore(options: DuckStoreOptions): IndexStore {
  return new DuckStore(options);
}

class DuckStore implements IndexStore {
  readonly indices: StoreIndices;
  readonly documents: DuckDocuments;
  readonly queries: DuckQueries;
  readonly #options: DuckStoreOptions;
  readonly #freeBytes: () => number;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;
  #worker: WorkerClient | undefined;

  constructor(options: DuckStoreOptions) {
    this.#options = options;
    this.#freeBytes = options.freeBytes ?? (() => freeBytesOf(options.folder));
    this.#metrics = buildMetrics(options.registry, storeMetrics);
    const { folder, reserveBytes } = options;
    const disk = { folder, reserveBytes, freeBytes: this.#freeBytes };
    this.indices = remoteGroup('indices', (...call) => this.#callIndices(...call));
    this.documents = new DuckDocuments((...call) => this.#call(...call), disk, this.#metrics);
    this.queries = new DuckQueries((...call) => this.#call(...call), this.#metrics);
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
      retainedBytes = defaultKeptBytes,
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
      retainedBytes,
      attachedIndices,
      words: { ...wordDefaults, reserveBytes, ...words },
    };
    const worker = new WorkerClient(engineOptions, {
      onLost: (reason) => {
        storeEvents.storeEnded(log, { code: 'STORE_UNAVAILABLE', reason });
        this.#options.onLost?.(storeError('STORE_UNAVAILABLE', 'embedded store', reason));
      },
      onWordsFailed: (failure) => {
        this.#metrics.wordFailures.inc(label);
        storeEvents.wordsNotAdded(log, failure);
      },
    });
    this.#worker = worker;
    const gauges = this.#metrics;
    Object.assign(gauges.retainedBytes, { collect: () => gauges.retainedBytes.set(label, worker.retainedBytes) });
    Object.assign(gauges.wordsBehind, { collect: () => gauges.wordsBehind.set(label, worker.wordsBehind) });
    await worker.call('control', 'start', []);
  }

  async stop(deadlineMs: number): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    if (worker.lost === undefined) await withinDeadline(worker.call('control', 'stop', []), deadlineMs);
    await worker.close();
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason: string }> {
    if (this.#worker === undefined || this.#worker.lost !== undefined)
      return { ok: false, reason: this.#worker?.lost ?? 'not started' };
    const free = this.#freeBytes();
    const { reserveBytes } = this.#options;
    if (free < reserveBytes)
      return { ok: false, reason: `${formatBytes(free)} free on disk, reserve ${formatBytes(reserveBytes)}` };
    const { blocked } = await remoteGroup('control', (...call) => this.#call(...call)).health();
    const reasons = [...blocked].map(([index, reason]) => `${index} is blocked: ${reason}`);
    return { ok: true, reason: reasons.join('; ') || 'ok' };
  }

  readonly #call: CallEngine = async (...call) => {
    if (this.#worker === undefined) throw storeError('STORE_STOPPED', 'embedded store');
    return this.#worker.call(...call);
  };

  readonly #callIndices: CallEngine = async (group, method, given) => {
    if (method !== 'checkpoint') return this.#call(group, method, given);
    const stopTimer = this.#metrics.checkpointSeconds.startTimer(label);
    const value = await this.#call(group, method, given);
    stopTimer();
    return value;
  };
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
