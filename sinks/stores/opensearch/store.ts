/** The index store on OpenSearch. */
import {
  createOpenSearchClient,
  faultOf,
  type OpenSearchClient,
  type OpenSearchConnection,
} from '../../../core/opensearch-client.js';
import { buildMetrics, type BuiltMetrics, type Registry } from '../../../core/metrics.js';
import { isSluiceError, type SluiceError } from '../../../core/errors.js';
import type { Log } from '../../../core/log.js';
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../../schemas/query.js';
import type {
  DocumentUpdate,
  FieldType,
  FoundDocument,
  IndexInfo,
  IndexOptions,
  IndexStore,
  StoreCapabilities,
  TombstoneRequest,
  WriteRequest,
  WriteResult,
} from '../contract.js';
import { storeErrors } from '../errors.js';
import { storeMetrics } from '../metrics.js';
import { addReply, bulkParts, splitPart, wholeError, type BulkOutcome, type BulkPart } from './bulk.js';
import { aggregate } from './aggregate.js';
import { createIndex, fieldTypes, listIndices, openIndices, takesFlatNames } from './indices.js';
import { readDocuments, updateDocuments, writeTombstones } from './documents.js';
import { writeAlias } from './mapping.js';
import { createGate, type Gate } from '../gate.js';
import { createSend, pathOf, sendExpecting, type Send } from './requests.js';
import { occurringFields } from './occurring-fields.js';
import { isSearchable, scanIds } from './scan.js';
import { scanHits } from './scan-hits.js';
import { search } from './search.js';

export interface OpenSearchStoreOptions extends OpenSearchConnection {
  /** Largest bulk body. */
  readonly bulkBytes: number;
  /** Bulk requests at the same time; the others wait, so that one is being made while another is being indexed. Default 2. */
  readonly bulksInFlight?: number;
  /** Fields of one index that the fitter lets pass. */
  readonly maxFields: number;
  /** For tests. Default: what the engine's version can. */
  readonly flatNames?: boolean;
  readonly log: Log;
  readonly registry: Registry;
}

/** Statuses are needed for each item; of errors only what says why. */
const bulkFilter = 'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by';

export class OpenSearchStore implements IndexStore {
  readonly #options: OpenSearchStoreOptions;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;
  readonly #bulks: Gate;
  #flatNames: boolean | undefined;
  #client: OpenSearchClient | undefined;
  #send: Send = () => Promise.reject(storeErrors.create('STORE_STOPPED'));

  constructor(options: OpenSearchStoreOptions) {
    this.#options = options;
    // Callers are few: each partition in process has one write for an index.
    this.#bulks = createGate(options.bulksInFlight ?? 2, Infinity);
    this.#metrics = buildMetrics(options.registry, storeMetrics);
  }

  capabilities(): StoreCapabilities {
    return { name: 'opensearch', deduplicates: 'id', shared: true };
  }

  async start(): Promise<void> {
    if (this.#client !== undefined) return;
    const client = createOpenSearchClient(this.#options);
    this.#client = client;
    this.#send = createSend(client);
    const { ok, reason } = await this.health();
    this.#options.log.info({ nodes: this.#options.nodes, ok, reason }, 'opensearch store started');
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#send = () => Promise.reject(storeErrors.create('STORE_STOPPED'));
    await client?.close();
  }

  async createIndex(name: string, options: IndexOptions): Promise<void> {
    this.#flatNames ??= this.#options.flatNames ?? (await takesFlatNames(this.#send));
    await createIndex(this.#send, name, options, { maxFields: this.#options.maxFields, flatNames: this.#flatNames });
  }

  async listIndices(prefix: string): Promise<readonly IndexInfo[]> {
    return listIndices(this.#send, prefix);
  }

  async write(request: WriteRequest): Promise<WriteResult> {
    const outcome: BulkOutcome = { stored: 0, alreadyStored: 0, alreadyStoredAt: [], failures: [] };
    const observe = this.#metrics.writeSeconds.startTimer({ store: 'opensearch' });
    try {
      for (const part of bulkParts(request, this.#options.bulkBytes, outcome))
        await this.#writePart(request.index, part, outcome);
      outcome.failures.sort((left, right) => left.position - right.position);
      return outcome;
    } catch (thrown) {
      if (isSluiceError(thrown)) this.#metrics.writeErrors.inc({ store: 'opensearch', code: thrown.code });
      throw thrown;
    } finally {
      observe();
      this.#metrics.writtenDocuments.inc({ store: 'opensearch' }, outcome.stored);
    }
  }

  async #writePart(index: string, part: BulkPart, outcome: BulkOutcome): Promise<void> {
    const leave = await this.#bulks.enter();
    const request = {
      method: 'POST',
      path: pathOf(writeAlias(index), '_bulk'),
      query: { require_alias: true, filter_path: bulkFilter },
      bulkBody: part.body,
    } as const;
    const reply = await this.#send(request, index).finally(leave);
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

  async writeTombstones(index: string, tombstones: readonly TombstoneRequest[]): Promise<readonly boolean[]> {
    return writeTombstones(this.#send, index, tombstones);
  }

  async read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>> {
    return readDocuments(this.#send, index, ids);
  }

  async update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    return updateDocuments(this.#send, index, updates);
  }

  async tombstonesAmong(index: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(
      [...(await readDocuments(this.#send, index, ids))].filter(([, { tombstone }]) => tombstone).map(([id]) => id),
    );
  }

  async isSearchable(index: string, id: string): Promise<boolean> {
    return isSearchable(this.#send, index, id);
  }

  #error(status: number, body: unknown, index: string): SluiceError {
    return wholeError(status, faultOf({ status, body }), index);
  }

  async markers(): Promise<ReadonlyMap<number, number>> {
    return new Map();
  }

  async fieldTypes(index: string): Promise<ReadonlyMap<string, FieldType>> {
    return fieldTypes(this.#send, index);
  }

  async closeIndex(name: string): Promise<void> {
    await sendExpecting(this.#send, { method: 'POST', path: pathOf(name, '_close') }, name);
  }

  async openIndex(name: string): Promise<void> {
    await sendExpecting(this.#send, { method: 'POST', path: pathOf(name, '_open') }, name);
  }

  async deleteIndex(name: string): Promise<void> {
    await sendExpecting(this.#send, { method: 'DELETE', path: pathOf(name) }, name, [404]);
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const observe = this.#metrics.searchSeconds.startTimer({ store: 'opensearch' });
    try {
      return await search(this.#send, request, this.#options.requestTimeoutMs);
    } finally {
      observe();
    }
  }

  scan(request: ScanRequest): AsyncIterable<readonly SearchHit[]> {
    return scanHits(this.#send, request, this.#options.requestTimeoutMs);
  }

  async occurringFields(request: ScanRequest): Promise<ReadonlySet<string>> {
    return occurringFields(this.#send, request);
  }

  async openIndices(prefixes: readonly string[]): Promise<readonly string[]> {
    return openIndices(this.#send, prefixes);
  }

  async aggregate(request: AggregateRequest): Promise<AggregateResult> {
    const observe = this.#metrics.searchSeconds.startTimer({ store: 'opensearch' });
    try {
      return await aggregate(this.#send, request, this.#options.requestTimeoutMs);
    } finally {
      observe();
    }
  }

  async refresh(indices: readonly string[]): Promise<void> {
    for (const index of indices)
      await sendExpecting(this.#send, { method: 'POST', path: pathOf(index, '_refresh') }, index);
  }

  async scanIds(indices: readonly string[], onIds: (ids: readonly string[]) => void | Promise<void>): Promise<void> {
    for (const index of indices) await scanIds(this.#send, index, onIds);
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason: string }> {
    try {
      const { status, body } = await this.#send(
        { method: 'GET', path: '/_cluster/health', query: { timeout: '1s' }, timeoutMs: healthTimeoutMs },
        'cluster health',
      );
      const cluster = body as { status?: string; cluster_name?: string };
      if (status >= 300)
        return { ok: false, reason: `OpenSearch answers ${status}: ${this.#error(status, body, 'cluster').got ?? ''}` };
      return {
        ok: cluster.status !== 'red',
        reason: `OpenSearch cluster ${cluster.cluster_name ?? ''} is ${cluster.status ?? 'unknown'}`,
      };
    } catch (thrown) {
      return { ok: false, reason: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  }
}

/** A health check that waits longer tells nothing more. */
const healthTimeoutMs = 3_000;
