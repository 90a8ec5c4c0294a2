/** Searches of the embedded store, as the main thread asks them. */
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
import type { IdPage } from './engine/contract.js';
import { storeError } from './failures.js';
import { scanHits } from './scan-hits.js';
import { remoteGroup, type CallEngine, type Remote } from './worker/remote.js';
import type { EngineGroups } from './worker/protocol.js';

const label = { store: 'embedded' } as const;

export class DuckQueries implements StoreQueries {
  readonly #engine: Remote<EngineGroups['queries']>;
  readonly #metrics: BuiltMetrics<typeof storeMetrics>;

  constructor(call: CallEngine, metrics: BuiltMetrics<typeof storeMetrics>) {
    this.#engine = remoteGroup('queries', call);
    this.#metrics = metrics;
  }

  search(request: SearchRequest): Promise<SearchResult> {
    return this.#read(request.signal, () => this.#engine.search(request));
  }

  aggregate(request: AggregateRequest): Promise<AggregateResult> {
    return this.#read(request.signal, () => this.#engine.aggregate(request));
  }

  occurringFields(request: ScanRequest): Promise<ReadonlySet<string>> {
    return this.#read(request.signal, () => this.#engine.occurringFields(request));
  }

  scan(request: ScanRequest): AsyncIterable<readonly SearchHit[]> {
    return scanHits(this.#engine, request);
  }

  async scanIds(indices: readonly string[], onIds: (ids: readonly string[]) => void | Promise<void>): Promise<void> {
    for (const index of indices) {
      let fromRow: number | undefined = 0;
      while (fromRow !== undefined) {
        const page: IdPage = await this.#engine.scanIds(index, fromRow);
        if (page.ids.length > 0) await onIds(page.ids);
        fromRow = page.nextRow;
      }
    }
  }

  /** A committed document is visible. */
  async isSearchable(): Promise<boolean> {
    return true;
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
}
