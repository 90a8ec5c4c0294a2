/** The index store on OpenSearch. */
import {
  createOpenSearchClient,
  faultOf,
  type OpenSearchClient,
  type OpenSearchConnection,
} from '../../../core/opensearch-client.js';
import { buildMetrics, type Registry } from '../../../core/metrics.js';
import type { Log } from '../../../core/log.js';
import { leastCapabilities, type IndexStore, type StoreCapabilities } from '../contract.js';
import { storeErrors } from '../errors.js';
import { storeMetrics } from '../metrics.js';
import { wholeError } from './bulk.js';
import { createSend, type Send } from './requests.js';
import { OpenSearchDocuments } from './store-documents.js';
import { OpenSearchIndices } from './store-indices.js';
import { OpenSearchQueries } from './store-queries.js';
import { storeEvents } from '../events.js';

export interface OpenSearchStoreOptions extends OpenSearchConnection {
  /** Largest bulk body. */
  readonly bulkBytes: number;
  /**
   * Bulk requests at the same time; the others wait, so that one is being made while another is being indexed. Default
   * 2.
   */
  readonly bulksInFlight?: number;
  /** Fields of one index that mapping coercion lets pass. */
  readonly maxFields: number;
  /** For tests. Default: what the engine's version can. */
  readonly flatNames?: boolean;
  readonly log: Log;
  readonly registry: Registry;
}

const capabilities: StoreCapabilities = { ...leastCapabilities, name: 'opensearch', shared: true };

/** A health check that waits longer tells nothing more. */
const healthTimeoutMs = 3_000;

const stopped: Send = () => Promise.reject(storeErrors.create('STORE_STOPPED'));

export function createOpenSearchStore(options: OpenSearchStoreOptions): IndexStore {
  return new OpenSearchStore(options);
}

class OpenSearchStore implements IndexStore {
  readonly indices: OpenSearchIndices;
  readonly documents: OpenSearchDocuments;
  readonly queries: OpenSearchQueries;
  readonly #options: OpenSearchStoreOptions;
  #client: OpenSearchClient | undefined;
  #send: Send = stopped;

  constructor(options: OpenSearchStoreOptions) {
    const send: Send = (request, place) => this.#send(request, place);
    const metrics = buildMetrics(options.registry, storeMetrics);
    this.#options = options;
    this.indices = new OpenSearchIndices(send, options);
    this.documents = new OpenSearchDocuments(send, options, metrics);
    this.queries = new OpenSearchQueries(send, options.requestTimeoutMs, metrics);
  }

  capabilities(): StoreCapabilities {
    return capabilities;
  }

  async start(): Promise<void> {
    if (this.#client !== undefined) return;
    const client = createOpenSearchClient(this.#options);
    this.#client = client;
    this.#send = createSend(client);
    const { ok, reason } = await this.health();
    storeEvents.storeStarted(this.#options.log, { nodes: this.#options.nodes, ok, reason });
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#send = stopped;
    await client?.close();
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason: string }> {
    try {
      const { status, body } = await this.#send(
        { method: 'GET', path: '/_cluster/health', query: { timeout: '1s' }, timeoutMs: healthTimeoutMs },
        'cluster health',
      );
      const cluster = body as { status?: string; cluster_name?: string };
      if (status >= 300) {
        const { got } = wholeError(status, faultOf({ status, body }), 'cluster');
        return { ok: false, reason: `OpenSearch answers ${status}: ${got ?? ''}` };
      }
      return {
        ok: cluster.status !== 'red',
        reason: `OpenSearch cluster ${cluster.cluster_name ?? ''} is ${cluster.status ?? 'unknown'}`,
      };
    } catch (thrown) {
      return { ok: false, reason: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  }
}
