/** Searches on OpenSearch. */
import type { BuiltMetrics } from '../../../core/metrics.js';
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../../schemas/query.js';
import type { StoreQueries } from '../contract.js';
import type { storeMetrics } from '../metrics.js';
import { aggregate } from './queries/aggregate.js';
import { occurringFields } from './queries/occurring-fields.js';
import type { Send } from './requests.js';
import { isSearchable, scanIds } from './queries/scan.js';
import { scanHits } from './queries/scan-hits.js';
import { search } from './queries/search.js';

const label = { store: 'opensearch' } as const;

export class OpenSearchQueries implements StoreQueries {
  readonly #send: Send;
  readonly #timeoutMs: number;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;

  constructor(send: Send, timeoutMs: number, metrics: BuiltMetrics<typeof storeMetrics>) {
    this.#send = send;
    this.#timeoutMs = timeoutMs;
    this.#metrics = metrics;
  }

  search(request: SearchRequest): Promise<SearchResult> {
    return this.#timed(() => search(this.#send, request, this.#timeoutMs));
  }

  aggregate(request: AggregateRequest): Promise<AggregateResult> {
    return this.#timed(() => aggregate(this.#send, request, this.#timeoutMs));
  }

  scan(request: ScanRequest): AsyncIterable<readonly SearchHit[]> {
    return scanHits(this.#send, request, this.#timeoutMs);
  }

  async scanIds(indices: readonly string[], onIds: (ids: readonly string[]) => void | Promise<void>): Promise<void> {
    for (const index of indices) await scanIds(this.#send, index, onIds);
  }

  occurringFields(request: ScanRequest): Promise<ReadonlySet<string>> {
    return occurringFields(this.#send, request);
  }

  isSearchable(index: string, id: string): Promise<boolean> {
    return isSearchable(this.#send, index, id);
  }

  async #timed<Result>(work: () => Promise<Result>): Promise<Result> {
    const observe = this.#metrics.searchSeconds.startTimer(label);
    try {
      return await work();
    } finally {
      observe();
    }
  }
}
