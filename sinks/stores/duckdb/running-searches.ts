/** Searches that wait or run, and how they are stopped. */
import type { DuckDBConnection } from '@duckdb/node-api';

/** The engine forgets an interrupt that comes while a statement is being prepared: it is repeated until the search has ended. */
const repeatMs = 50;

interface Search {
  connection: DuckDBConnection | undefined;
  interrupting: NodeJS.Timeout | undefined;
}

export class RunningSearches {
  readonly #searches = new Map<number, Search>();

  get size(): number {
    return this.#searches.size;
  }

  begin(id: number): void {
    this.#searches.set(id, { connection: undefined, interrupting: undefined });
  }

  run(id: number, connection: DuckDBConnection): void {
    const search = this.#searches.get(id);
    if (search !== undefined) search.connection = connection;
  }

  /** The connection is about to be closed. */
  rest(id: number): void {
    const search = this.#searches.get(id);
    if (search !== undefined) search.connection = undefined;
  }

  end(id: number): void {
    clearInterval(this.#searches.get(id)?.interrupting);
    this.#searches.delete(id);
  }

  isCancelled(id: number): boolean {
    return this.#searches.get(id)?.interrupting !== undefined;
  }

  cancel(id: number): void {
    const search = this.#searches.get(id);
    if (search === undefined || search.interrupting !== undefined) return;
    search.connection?.interrupt();
    search.interrupting = setInterval(() => search.connection?.interrupt(), repeatMs);
  }

  cancelAll(): void {
    for (const id of this.#searches.keys()) this.cancel(id);
  }

  interruptAll(): void {
    for (const { connection } of this.#searches.values()) connection?.interrupt();
  }
}
