/** What the main thread and the store's worker thread say to each other. */
import type { EngineOptions } from '../engine/contract.js';
import type { EngineControl } from '../engine/engine-control.js';
import type { EngineDocuments } from '../engine/engine-documents.js';
import type { EngineIndices } from '../engine/engine-indices.js';
import type { EngineQueries } from '../engine/engine-queries.js';
import type { WordFailure } from '../words/options.js';
import type { WireError } from './wire-error.js';

/** All that the main thread may call: the public methods of these. */
export interface EngineGroups {
  readonly control: EngineControl;
  readonly indices: EngineIndices;
  readonly documents: EngineDocuments;
  readonly queries: EngineQueries;
}

export interface WorkerData {
  readonly options: EngineOptions;
  /** One Int32: 1 when the thread may be ended. Ending it during a call into the engine aborts the process. */
  readonly halted: SharedArrayBuffer;
  /** Two Float64: bytes that searches have left, and documents whose words are not known yet. */
  readonly figures: SharedArrayBuffer;
}

/** Calls a method of the engine, or cancels the call of this number. */
export type EngineRequest = EngineCall | { readonly id: number; readonly cancel: true };

export interface EngineCall {
  readonly id: number;
  readonly group: keyof EngineGroups;
  readonly method: string;
  readonly arguments: readonly unknown[];
  /** The first argument is a request that goes without its signal; it gets one of the worker thread. */
  readonly cancellable: boolean;
}

/** What nobody asked for. */
export interface EngineNotice {
  readonly wordsFailed: WordFailure;
}

export type EngineAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireError };
