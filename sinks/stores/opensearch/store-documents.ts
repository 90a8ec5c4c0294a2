/** Documents written to and read from OpenSearch by id. */
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
import { createSemaphore, type Semaphore } from '../../../core/semaphore.js';
import type { storeMetrics } from '../metrics.js';
import { addReply, bulkParts, splitPart, type BulkOutcome, type BulkPart } from './bulk.js';
import { readDocuments, updateDocuments, writeTombstones } from './documents.js';
import { writeAlias } from './mapping.js';
import { pathOf, sendExpecting, type Send } from './requests.js';

/** Statuses are needed for each item; of errors only what says why. */
const bulkFilter = 'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by';

const label = { store: 'opensearch' } as const;

interface DocumentsOptions {
  /** Largest bulk body. */
  readonly bulkBytes: number;
  /** Bulk requests at the same time; the others wait. Default 2. */
  readonly bulksInFlight?: number;
}

export class OpenSearchDocuments implements StoreDocuments {
  readonly #send: Send;
  readonly #bulkBytes: number;
  readonly #bulks: Semaphore;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;

  constructor(
    send: Send,
    { bulkBytes, bulksInFlight = 2 }: DocumentsOptions,
    metrics: BuiltMetrics<typeof storeMetrics>,
  ) {
    this.#send = send;
    this.#bulkBytes = bulkBytes;
    // Callers are few: each partition in process has one write for an index.
    this.#bulks = createSemaphore(bulksInFlight);
    this.#metrics = metrics;
  }

  async write(request: WriteRequest): Promise<WriteResult> {
    const outcome: BulkOutcome = { stored: 0, alreadyStored: 0, alreadyStoredAt: [], failures: [] };
    const observe = this.#metrics.writeSeconds.startTimer(label);
    try {
      for (const part of bulkParts(request, this.#bulkBytes, outcome))
        await this.#writePart(request.index, part, outcome);
      outcome.failures.sort((left, right) => left.position - right.position);
      return outcome;
    } catch (thrown) {
      if (isSluiceError(thrown)) this.#metrics.writeErrors.inc({ ...label, code: thrown.code });
      throw thrown;
    } finally {
      observe();
      this.#metrics.writtenDocuments.inc(label, outcome.stored);
    }
  }

  async #writePart(index: string, part: BulkPart, outcome: BulkOutcome): Promise<void> {
    const request = {
      method: 'POST',
      path: pathOf(writeAlias(index), '_bulk'),
      query: { require_alias: true, filter_path: bulkFilter },
      bulkBody: part.body,
    } as const;
    const reply = await this.#bulks.run(() => this.#send(request, index));
    if (reply.status !== 413) addReply(outcome, part, reply, index);
    else for (const half of splitPart(part, outcome)) await this.#writePart(index, half, outcome);
  }

  /** A translog that is synced by each request needs a flush only for what a 409 spoke of; the flush syncs it. */
  async sync(index: string): Promise<void> {
    await sendExpecting(
      this.#send,
      { method: 'POST', path: pathOf(index, '_flush'), query: { wait_if_ongoing: true, force: true } },
      index,
    );
  }

  /** Ids tell what is there already. */
  async markers(): Promise<ReadonlyMap<number, number>> {
    return new Map();
  }

  read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>> {
    return readDocuments(this.#send, index, ids);
  }

  update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    return updateDocuments(this.#send, index, updates);
  }

  writeTombstones(index: string, tombstones: readonly TombstoneRequest[]): Promise<readonly boolean[]> {
    return writeTombstones(this.#send, index, tombstones);
  }
}
