/**
 * Events, commands and state of the delivery protocol of one partition. See docs/delivery.md for the rules by number.
 */
import type { Owner, PartitionRecord, Span } from './records.js';
import type { Sequences } from './sequences.js';

export interface VersionedRecord {
  readonly record: PartitionRecord;
  readonly revision: string;
}

/** What a delivery has brought about. */
export interface Outcome {
  readonly alreadyStoredIn: readonly string[];
  readonly sequences: Sequences;
}

export type DeliveryEvent =
  | {
      readonly type: 'assigned';
      readonly groupGeneration: number;
      readonly position: number;
      readonly logEnd: number;
      readonly highestMarker: number;
      readonly sequences: Sequences;
    }
  /**
   * `stillOwner`: a heartbeat that was sent after the record was read has succeeded. A larger generation proves
   * nothing: the group's may have begun anew.
   */
  | {
      readonly type: 'record_read';
      readonly found: VersionedRecord | undefined;
      readonly latestEpoch: number;
      readonly stillOwner: boolean;
    }
  | { readonly type: 'record_written'; readonly revision: string }
  | { readonly type: 'record_conflict' }
  | { readonly type: 'index_states_read'; readonly retired: boolean; readonly latestEpoch: number }
  | { readonly type: 'fetched'; readonly first: number; readonly next: number; readonly latestEpoch: number }
  /**
   * A silent partition takes a new epoch too: its last range would hold the former epoch's indices for ever (rule 7).
   */
  | { readonly type: 'epoch_appended'; readonly latestEpoch: number }
  | ({ readonly type: 'stored' } & Outcome)
  /** Rule 9: all of the batch is stored or parked but what these sets get, which do not take writes. */
  | ({ readonly type: 'blocked'; readonly indexSets: readonly string[] } & Outcome)
  | { readonly type: 'parked' }
  /** Rule 9, between two batches: all that this partition has parked for the set is stored, durably. */
  | { readonly type: 'drained'; readonly indexSet: string }
  | { readonly type: 'synced' }
  | { readonly type: 'failed' }
  | { readonly type: 'revoked' };

export type DeliveryCommand =
  | { readonly type: 'read_record' }
  | { readonly type: 'write_record'; readonly record: PartitionRecord; readonly expected: string | undefined }
  /** Rule 7: whether an index of this epoch is retiring or retired. */
  | { readonly type: 'read_index_states'; readonly epoch: number }
  | { readonly type: 'ready' }
  /**
   * Rules 1 and 3: route each span by its epoch, fence, then write; what is for a set of `park` is appended to that
   * set's parking topic instead (rule 9). Answer `stored`, `blocked` or `failed`.
   */
  | { readonly type: 'deliver'; readonly spans: readonly Span[]; readonly park: readonly string[] }
  /**
   * Rule 8: append what the batch holds for these sets to their parking topics, durably; answer `parked` or `failed`.
   */
  | { readonly type: 'park'; readonly spans: readonly Span[]; readonly indexSets: readonly string[] }
  /** Rule 12. */
  | { readonly type: 'sync'; readonly indices: readonly string[] }
  | { readonly type: 'commit'; readonly offset: number; readonly sequences: Sequences }
  /** The partition belongs to somebody else: write nothing more. */
  | { readonly type: 'abandon'; readonly reason: string };

type Phase =
  | 'unassigned'
  | 'reading'
  | 'taking_over'
  | 'checking_indices'
  | 'ready'
  | 'cutting'
  | 'recording'
  | 'delivering'
  | 'recording_parked'
  | 'parking'
  | 'unparking'
  | 'syncing'
  | 'abandoned';

export interface PartitionState {
  readonly phase: Phase;
  readonly owner: Owner;
  /** The record as this owner knows it to stand in the state store. */
  readonly stored: VersionedRecord | undefined;
  /** The record being written, until its outcome is known. */
  readonly writing: PartitionRecord | undefined;
  /** Rule 4: cuts lie at or above it. */
  readonly floor: number;
  /** The next offset that has not been handed to a delivery. */
  readonly taken: number;
  readonly committed: number;
  readonly sequences: Sequences;
  readonly logEnd: number;
  readonly highestMarker: number;
  readonly batch: { readonly first: number; readonly next: number } | undefined;
  /** Of the batch under way, while sets of it are being parked. */
  readonly blocked: (Outcome & { readonly indexSets: readonly string[] }) | undefined;
  readonly latestEpoch: number;
}

export interface Step {
  readonly state: PartitionState;
  readonly commands: readonly DeliveryCommand[];
}

export const unassigned: PartitionState = {
  phase: 'unassigned',
  owner: { incarnation: 0, groupGeneration: -1 },
  stored: undefined,
  writing: undefined,
  floor: 0,
  taken: 0,
  committed: 0,
  sequences: new Map(),
  logEnd: 0,
  highestMarker: 0,
  batch: undefined,
  blocked: undefined,
  latestEpoch: -1,
};

export function unexpected(state: PartitionState, event: DeliveryEvent): Step {
  return abandon(state, `event ${event.type} does not fit the phase ${state.phase}`);
}

export function abandon(state: PartitionState, reason: string): Step {
  return {
    state: { ...state, phase: 'abandoned', batch: undefined, blocked: undefined, writing: undefined },
    commands: [{ type: 'abandon', reason }],
  };
}

export function ready(state: PartitionState): Step {
  return { state: { ...state, phase: 'ready' }, commands: [{ type: 'ready' }] };
}

/** In this phase the record is written; the outcome decides what comes next. */
export function writeRecord(state: PartitionState, record: PartitionRecord, expected: string | undefined): Step {
  return { state: { ...state, writing: record }, commands: [{ type: 'write_record', record, expected }] };
}
