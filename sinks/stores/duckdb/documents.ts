/** Documents on their way to the worker thread: no more at once than fit the memory and the disk. */
import { formatBytes } from '../../../core/bytes.js';
import { isSluiceError } from '../../../core/errors.js';
import type { BuiltMetrics } from '../../../core/metrics.js';
import type {
  DocumentUpdate,
  FoundDocument,
  StoreDocuments,
  TombstoneRequest,
  WriteRequest,
  WriteResult,
} from '../contract.js';
import type { storeMetrics } from '../metrics.js';
import { storeError } from './failures.js';
import { remoteGroup, type CallEngine, type Remote } from './worker/remote.js';
import type { EngineGroups } from './worker/protocol.js';

/**
 * Bytes of documents that wait for the worker thread at once; parsed they take four times as many. Beyond, the caller
 * is told to come back.
 */
const waitingBytes = 64 * 2 ** 20;
/** The log and the checkpoint that a write leads to need about this many times its bytes. */
const writeAmplification = 3;

const label = { store: 'embedded' } as const;

interface Disk {
  readonly folder: string;
  /** Writes are refused before less than this is free. */
  readonly reserveBytes: number;
  readonly freeBytes: () => number;
}

export class DuckDocuments implements StoreDocuments {
  readonly #engine: Remote<EngineGroups['documents']>;
  readonly #disk: Disk;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;
  #waitingBytes = 0;

  constructor(call: CallEngine, disk: Disk, metrics: BuiltMetrics<typeof storeMetrics>) {
    this.#engine = remoteGroup('documents', call);
    this.#disk = disk;
    this.#metrics = metrics;
  }

  async write(request: WriteRequest): Promise<WriteResult> {
    const bytes = request.documents.reduce((sum, document) => sum + document.length, 0);
    const stopTimer = this.#metrics.writeSeconds.startTimer(label);
    try {
      this.#admit(request.index, bytes);
      this.#waitingBytes += bytes;
      try {
        const result = await this.#engine.write(request);
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

  /** A commit is durable when it resolves. */
  async sync(): Promise<void> {}

  markers(index: string, topic: string, topicGeneration: number): Promise<ReadonlyMap<number, number>> {
    return this.#engine.markers(index, topic, topicGeneration);
  }

  read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>> {
    return this.#engine.read(index, ids);
  }

  async update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    this.#admit(
      index,
      updates.reduce((sum, { document }) => sum + document.length, 0),
    );
    return this.#engine.update(index, updates);
  }

  /** Offsets tell late copies. */
  async writeTombstones(_index: string, tombstones: readonly TombstoneRequest[]): Promise<readonly boolean[]> {
    return tombstones.map(() => true);
  }

  #admit(index: string, bytes: number): void {
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > waitingBytes)
      throw storeError('STORE_OVERLOADED', index, `${formatBytes(this.#waitingBytes)} waiting`);
    const { folder, reserveBytes, freeBytes } = this.#disk;
    const free = freeBytes();
    if (free - bytes * writeAmplification < reserveBytes)
      throw storeError('STORE_DISK_FULL', folder, `${formatBytes(free)} free, reserve ${formatBytes(reserveBytes)}`);
  }
}
