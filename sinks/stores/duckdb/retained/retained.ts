/** What searches retain for those that come next, in the memory of one instance of the engine. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { IdRanges } from './id-ranges.js';
import { RetainedCounts } from './retained-counts.js';
import { RetainedRows } from './retained-rows.js';

export class Retained {
  readonly rows: RetainedRows;
  readonly counts: RetainedCounts;
  readonly ids = new IdRanges();

  /** `maxBytes`: of rows and counts, half each. */
  constructor(maxBytes: number) {
    this.rows = new RetainedRows(maxBytes / 2);
    this.counts = new RetainedCounts(maxBytes / 2);
  }

  /** Gives back the memory of what nobody has asked for lately. */
  async sweep(connection: DuckDBConnection): Promise<void> {
    this.counts.sweep();
    await this.rows.sweep(connection);
  }

  /** Memory of rows and counts. */
  get bytes(): number {
    return this.rows.bytes + this.counts.bytes;
  }
}
