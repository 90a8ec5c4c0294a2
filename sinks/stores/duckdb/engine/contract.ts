/** What the engine is given, and what it answers beside the shapes of the store's contract. */
import type { ScanRequest, SearchAfter } from '../../../../schemas/query.js';
import type { WordIndexerOptions } from '../words/options.js';

export interface EngineOptions {
  /** Database files lie in its folder `indices`, spilled sorts in `spill`. */
  readonly folder: string;
  readonly memoryBytes: number;
  /**
   * Beside those that ask, which work too; 0: one less than there are cores (with one for each, writes took 12 % more
   * CPU, searches under load a fifth longer).
   */
  readonly threads: number;
  readonly checkpointBytes: number;
  /**
   * How long a small write waits for those of the other partitions, so that one transaction takes all of them; 0: not
   * at all.
   */
  readonly lingerMs: number;
  /** Most memory of the rows and counts that searches retain for those that come next. */
  readonly retainedBytes: number;
  /** Most index files open at once. */
  readonly attachedIndices: number;
  readonly words: WordIndexerOptions;
}

export interface ScanPage {
  readonly request: Omit<ScanRequest, 'signal'>;
  readonly signal?: AbortSignal | undefined;
  readonly index: string;
  /** Only the first so many of the file. */
  readonly rows: number;
  readonly after: SearchAfter | undefined;
  readonly limit: number;
}

/**
 * Documents of one index in order, a column each: so many of them wait for their turn that as objects they would be
 * most of what a scan holds.
 */
export interface ScannedRows {
  readonly rows: Float64Array;
  /** What they are ordered by; numbers alone where there is nothing else. */
  readonly values: Float64Array | readonly SearchAfter['sortValue'][];
  readonly ids: readonly string[];
}

/** Documents of one index, in any order. */
export interface WantedRows {
  readonly index: string;
  readonly rows: Float64Array;
  readonly ids: readonly string[];
}

export interface WantedDocuments {
  readonly wanted: readonly WantedRows[];
  /** All when undefined. */
  readonly fields: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface IdPage {
  readonly ids: readonly string[];
  /** Undefined after the last page. */
  readonly nextRow: number | undefined;
}

export interface EngineHealth {
  /** Reasons by index. */
  readonly blocked: ReadonlyMap<string, string>;
}
