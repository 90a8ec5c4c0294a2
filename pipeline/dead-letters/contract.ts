/** What an operator does with dead letters, through the API or the command line. */
import type { QueryNode } from '../../schemas/query.js';
import type { ReplayResult } from './replay-machine.js';
import type { DeadLetter, DeadLetterDocument } from './state.js';

/** Which dead letters are meant: those that fulfil every condition that is given. */
export interface Selection {
  readonly ids?: readonly string[] | undefined;
  readonly code?: string | undefined;
  /** Words of the reason. */
  readonly reason?: string | undefined;
  readonly receiver?: string | undefined;
  /** With its port, or any port of an address. */
  readonly peer?: string | undefined;
  /** The one that refused the document. */
  readonly indexSet?: string | undefined;
  /** `open` has those whose replay has begun too. */
  readonly state: 'open' | 'replayed' | 'dropped' | 'all';
  /** Any further condition. */
  readonly query: QueryNode;
  /** Receive time, half-open, milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface ListedDeadLetter {
  readonly id: string;
  readonly place: string;
  readonly document: DeadLetterDocument;
}

/** `left`: no answer; the dead letter keeps its target, and a replay goes on from there. */
export type DeadLetterResult = ReplayResult | 'left';
export interface DeadLetters {
  /** Newest first; `onPage` is awaited. Resolves with how many there are in all. */
  list(
    selection: Selection,
    limit: number,
    onPage: (deadLetters: readonly ListedDeadLetter[], total: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<number>;
  find(id: string): Promise<DeadLetter | undefined>;
  /** Oldest first. Rejects when the store does not answer: what was done stays done, the rest is as it was. */
  replay(selection: Selection, limit: number, work: Work): Promise<ReplayReport>;
  /** Where a replay would bring them. Changes nothing. */
  plan(selection: Selection, limit: number, work: Work): Promise<PlanReport>;
  /**
   * Keeps them with who and when until retention removes their index; a replay passes them over. One whose replay has
   * begun is not dropped.
   */
  drop(selection: Selection, limit: number, by: string, work: Work): Promise<DropReport>;
}

export interface Work {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => Promise<void>;
}

export type ReplayReport = Readonly<Record<DeadLetterResult, number>> & Ended;
export interface PlanReport extends Ended {
  /** Documents by index set. */
  readonly index_sets: Readonly<Record<string, number>>;
  /** Letters by code that would fail again. */
  readonly fail: Readonly<Record<string, number>>;
  /** A rule drops their messages. */
  readonly dropped_by_rules: number;
  readonly skipped: number;
}
export interface DropReport extends Ended {
  readonly dropped: number;
  readonly skipped: number;
}
/** How a piece of work ended. */
export interface Ended {
  /** Letters that were looked at. */
  readonly done: number;
  readonly total: number;
  readonly cancelled: boolean;
}
