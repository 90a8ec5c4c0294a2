/** What a search reads from. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Retained } from '../retained/retained.js';
import type { SearchedIndex } from './found.js';

export interface Reading {
  /** The search's own; a cancel interrupts it. */
  readonly connection: DuckDBConnection;
  readonly indices: readonly SearchedIndex[];
  /** Names of indices that cannot be read. */
  readonly skipped: readonly string[];
  readonly retained: Retained;
}
