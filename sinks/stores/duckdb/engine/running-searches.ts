/** Searches that wait or run, and how they are stopped. */
import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * The engine forgets an interrupt that comes while a statement is being prepared: it is repeated until the search has
 * ended.
 */
const repeatMs = 50;

export class RunningSearch {
  /** While a statement may run. */
  connection: DuckDBConnection | undefined;
  #interrupting: NodeJS.Timeout | undefined;

  get cancelled(): boolean {
    return this.#interrupting !== undefined;
  }

  cancel(): void {
    if (this.cancelled) return;
    this.connection?.interrupt();
    this.#interrupting = setInterval(() => this.connection?.interrupt(), repeatMs);
  }

  end(): void {
    clearInterval(this.#interrupting);
  }
}

export class RunningSearches {
  readonly #searches = new Set<RunningSearch>();

  get size(): number {
    return this.#searches.size;
  }

  begin(signal: AbortSignal | undefined): RunningSearch {
    const search = new RunningSearch();
    this.#searches.add(search);
    signal?.addEventListener('abort', () => search.cancel(), { once: true });
    return search;
  }

  end(search: RunningSearch): void {
    search.end();
    this.#searches.delete(search);
  }

  cancelAll(): void {
    for (const search of this.#searches) search.cancel();
  }

  interruptAll(): void {
    for (const { connection } of this.#searches) connection?.interrupt();
  }
}
