/** What the main thread and the store's worker thread say to each other. */
import type { DocumentUpdate, FieldType, FoundDocument, IndexInfo, WriteRequest, WriteResult } from '../contract.js';
import type { WordFailure, WordIndexerOptions } from './words/options.js';
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchAfter,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../../schemas/query.js';

export interface EngineOptions {
  /** Database files lie in its folder `indices`, spilled sorts in `spill`. */
  readonly folder: string;
  readonly memoryBytes: number;
  /** Beside those that ask, which work too; 0: one less than there are cores (with one for each, writes took 12 % more CPU, searches under load a fifth longer). */
  readonly threads: number;
  readonly checkpointBytes: number;
  /** How long a small write waits for those of the other partitions, so that one transaction takes all of them; 0: not at all. */
  readonly lingerMs: number;
  /** Of rows and counts that searches leave for those that come next. */
  readonly keptBytes: number;
  /** Most index files open at once. */
  readonly attachedIndices: number;
  readonly words: WordIndexerOptions;
}

export interface WorkerData {
  readonly options: EngineOptions;
  /** One Int32: 1 when the thread may be ended. Ending it during a call into the engine aborts the process. */
  readonly halted: SharedArrayBuffer;
  /** Two Float64: bytes that searches have left, and documents whose words are not known yet. */
  readonly figures: SharedArrayBuffer;
}

/** Arguments and answer of each request. */
export interface EngineMethods {
  start: { argument: undefined; value: undefined };
  stop: { argument: undefined; value: undefined };
  /** Ends what runs and refuses what comes; then sets the flag of the thread's data. */
  halt: { argument: undefined; value: undefined };
  createIndex: { argument: string; value: undefined };
  listIndices: { argument: string; value: readonly IndexInfo[] };
  write: { argument: WriteRequest; value: WriteResult };
  read: {
    argument: { readonly index: string; readonly ids: readonly string[] };
    value: ReadonlyMap<string, FoundDocument>;
  };
  update: {
    argument: { readonly index: string; readonly updates: readonly DocumentUpdate[] };
    value: readonly (string | undefined)[];
  };
  checkpoint: { argument: string; value: undefined };
  markers: {
    argument: { readonly index: string; readonly topic: string; readonly topicGeneration: number };
    value: ReadonlyMap<number, number>;
  };
  fieldTypes: { argument: string; value: ReadonlyMap<string, FieldType> };
  closeIndex: { argument: string; value: undefined };
  openIndex: { argument: string; value: undefined };
  deleteIndex: { argument: string; value: undefined };
  search: { argument: Omit<SearchRequest, 'signal'>; value: SearchResult };
  openIndices: { argument: readonly string[]; value: readonly string[] };
  aggregate: { argument: Omit<AggregateRequest, 'signal'>; value: AggregateResult };
  occurringFields: { argument: Omit<ScanRequest, 'signal'>; value: ReadonlySet<string> };
  /** Rows of each index now. */
  scanRows: { argument: readonly string[]; value: ReadonlyMap<string, number> };
  scanPlaces: { argument: ScanPage; value: ScanPlaces };
  scanDocuments: {
    argument: { readonly wanted: readonly WantedRows[]; readonly fields: readonly string[] | undefined };
    value: readonly (readonly SearchHit[])[];
  };
  scanIds: { argument: { readonly index: string; readonly fromRow: number }; value: IdPage };
  health: { argument: undefined; value: EngineHealth };
}

export interface ScanPage {
  readonly request: Omit<ScanRequest, 'signal'>;
  readonly index: string;
  /** Only the first so many of the file. */
  readonly rows: number;
  readonly after: SearchAfter | undefined;
  readonly limit: number;
}

/** Documents of one index in order, a column each: so many of them wait for their turn that as objects they would be most of what a scan holds. */
export interface ScanPlaces {
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

export type EngineMethod = keyof EngineMethods;

export interface IdPage {
  readonly ids: readonly string[];
  /** Undefined after the last page. */
  readonly nextRow: number | undefined;
}

export interface EngineHealth {
  /** Reasons by index. */
  readonly blocked: ReadonlyMap<string, string>;
}

export type EngineRequest =
  | {
      readonly [Method in EngineMethod]: {
        readonly id: number;
        readonly method: Method;
        readonly argument: EngineMethods[Method]['argument'];
      };
    }[EngineMethod]
  | { readonly id: number; readonly method: 'cancel'; readonly argument: undefined };

/** A typed error on its way between threads. */
export interface WireError {
  readonly code: string;
  readonly place: string | undefined;
  readonly got: string | undefined;
  readonly allowed: string | undefined;
  readonly reason: string;
}

/** What nobody asked for. */
export interface EngineNotice {
  readonly wordsFailed: WordFailure;
}

export type EngineAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireError };
