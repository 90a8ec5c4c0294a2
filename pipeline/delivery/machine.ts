/**
 * The delivery protocol of one partition as a pure state machine: events in, commands out; no I/O, no clock. A driver
 * carries the commands out and reports their outcome as the next event. See docs/delivery.md for the rules by number.
 */
import {
  cutRanges,
  ownerBefore,
  parkSets,
  prunedRanges,
  spansOf,
  unparkSet,
  type Owner,
  type PartitionRecord,
  type Span,
} from './records.js';
import type { Sequences } from './sequences.js';

/** Offsets reserved ahead with one compare-and-set (rule 4): a backlog is bound to old rules for at most this many. */
export const reservedSpan = 50_000;

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
  /** `stillOwner`: a heartbeat that was sent after the record was read has succeeded. A larger generation proves nothing: the group's may have begun anew. */
  | {
      readonly type: 'record_read';
      readonly found: VersionedRecord | undefined;
      readonly latestEpoch: number;
      readonly stillOwner: boolean;
    }
  | { readonly type: 'record_written'; readonly revision: string }
  | { readonly type: 'record_conflict' }
  | { readonly type: 'marks_read'; readonly retired: boolean; readonly latestEpoch: number }
  | { readonly type: 'fetched'; readonly first: number; readonly next: number; readonly latestEpoch: number }
  /** A silent partition takes a new epoch too: its last range would hold the former epoch's indices for ever (rule 7). */
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
  /** Rule 7: whether an index of this epoch is marked as retiring or retired. */
  | { readonly type: 'read_marks'; readonly epoch: number }
  | { readonly type: 'ready' }
  /**
   * Rules 1 and 3: route each span by its epoch, fence, then write; what is for a set of `park` is appended to that set's parking
   * topic instead (rule 9). Answer `stored`, `blocked` or `failed`.
   */
  | { readonly type: 'deliver'; readonly spans: readonly Span[]; readonly park: readonly string[] }
  /** Rule 8: append what the batch holds for these sets to their parking topics, durably; answer `parked` or `failed`. */
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
  | 'checking_marks'
  | 'ready'
  | 'cutting'
  | 'recording'
  | 'delivering'
  | 'marking'
  | 'parking'
  | 'unparking'
  | 'syncing'
  | 'abandoned';

export interface PartitionState {
  readonly phase: Phase;
  readonly owner: Owner;
  readonly held: VersionedRecord | undefined;
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
  held: undefined,
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

export function step(state: PartitionState, event: DeliveryEvent): Step {
  if (event.type === 'revoked') return { state: unassigned, commands: [] };
  if (event.type === 'assigned') return assign(event);
  if (event.type === 'record_conflict') return abandon(state, 'another processor has taken the partition over');
  switch (event.type) {
    case 'record_read':
      return state.phase === 'reading' ? takeOver(state, event) : unexpected(state, event);
    case 'record_written':
      return written(state, event.revision);
    case 'marks_read':
      return state.phase === 'checking_marks' ? checkMarks(state, event) : unexpected(state, event);
    case 'fetched':
      return state.phase === 'ready' ? fetch(state, event) : unexpected(state, event);
    case 'epoch_appended':
      return cutIdle(state, event.latestEpoch);
    case 'stored':
      return state.phase === 'delivering' ? stored(state, event) : unexpected(state, event);
    case 'blocked':
      return state.phase === 'delivering' ? block(state, event) : unexpected(state, event);
    case 'parked':
      return state.phase === 'parking' && state.blocked !== undefined
        ? stored({ ...state, blocked: undefined }, state.blocked)
        : unexpected(state, event);
    case 'drained':
      return unpark(state, event.indexSet);
    case 'synced':
      return state.phase === 'syncing' ? commit(state) : unexpected(state, event);
    case 'failed':
      return {
        state: {
          ...state,
          phase: state.phase === 'abandoned' ? 'abandoned' : 'ready',
          batch: undefined,
          blocked: undefined,
        },
        commands: [],
      };
  }
}

function unexpected(state: PartitionState, event: DeliveryEvent): Step {
  return abandon(state, `event ${event.type} does not fit the phase ${state.phase}`);
}

function abandon(state: PartitionState, reason: string): Step {
  return {
    state: { ...state, phase: 'abandoned', batch: undefined, blocked: undefined, writing: undefined },
    commands: [{ type: 'abandon', reason }],
  };
}

function assign(event: Extract<DeliveryEvent, { type: 'assigned' }>): Step {
  return {
    state: {
      ...unassigned,
      phase: 'reading',
      owner: { incarnation: 0, groupGeneration: event.groupGeneration },
      taken: event.position,
      committed: event.position,
      sequences: event.sequences,
      logEnd: event.logEnd,
      highestMarker: event.highestMarker,
    },
    commands: [{ type: 'read_record' }],
  };
}

/** Rule 2, and rule 4's floor: what a former owner may still write lies below the log end and below what was reserved. */
function takeOver(state: PartitionState, event: Extract<DeliveryEvent, { type: 'record_read' }>): Step {
  const { found, latestEpoch } = event;
  const generation = state.owner.groupGeneration;
  if (!event.stillOwner) return abandon(state, `the group has taken the partition away from generation ${generation}`);
  if (found === undefined) {
    const owner = { incarnation: 0, groupGeneration: generation };
    const record: PartitionRecord = {
      ranges: [{ from: 0, epoch: latestEpoch }],
      owner,
      reserved: state.taken + reservedSpan,
      unchecked: true,
    };
    return record_(
      { ...state, owner, phase: 'taking_over', latestEpoch, floor: state.highestMarker },
      record,
      undefined,
    );
  }
  const former = found.record.owner;
  const reset = former.groupGeneration > generation;
  const owner = { incarnation: former.incarnation + (reset ? 1 : 0), groupGeneration: generation };
  if (ownerBefore(owner, former)) return abandon(state, 'a newer owner has taken the partition over');
  const floor = Math.max(Math.min(state.logEnd, found.record.reserved), state.highestMarker);
  // Only here: a commit of this owner may still be refused or lost, the position of the assignment is durable.
  const record: PartitionRecord = {
    ...found.record,
    ranges: prunedRanges(found.record, state.committed),
    owner,
    reserved: Math.max(found.record.reserved, state.taken + reservedSpan),
  };
  return record_({ ...state, owner, phase: 'taking_over', latestEpoch, floor, held: found }, record, found.revision);
}

function record_(
  state: PartitionState,
  record: PartitionRecord,
  expected: string | undefined,
  phase = state.phase,
): Step {
  return { state: { ...state, phase, writing: record }, commands: [{ type: 'write_record', record, expected }] };
}

function written(state: PartitionState, revision: string): Step {
  if (state.writing === undefined) return unexpected(state, { type: 'record_written', revision });
  const held = { record: state.writing, revision };
  const next: PartitionState = { ...state, held, writing: undefined };
  if (state.phase === 'recording') return deliver(next);
  if (state.phase === 'marking') return parkBatch(next);
  if (state.phase === 'cutting' || state.phase === 'unparking')
    return { state: { ...next, phase: 'ready' }, commands: [{ type: 'ready' }] };
  if (state.phase !== 'taking_over') return unexpected(state, { type: 'record_written', revision });
  if (held.record.unchecked !== true) return { state: { ...next, phase: 'ready' }, commands: [{ type: 'ready' }] };
  const epoch = held.record.ranges.at(-1)?.epoch ?? state.latestEpoch;
  return { state: { ...next, phase: 'checking_marks' }, commands: [{ type: 'read_marks', epoch }] };
}

/**
 * Rule 7: a new partition's record may name an index that was retired before the record was there to be seen. That it names none is
 * written down: an owner that died before it knew must not be trusted by the next one.
 */
function checkMarks(state: PartitionState, event: Extract<DeliveryEvent, { type: 'marks_read' }>): Step {
  if (state.held === undefined) return abandon(state, 'no record to check');
  const { record, revision } = state.held;
  if (event.retired)
    return record_(
      { ...state, latestEpoch: event.latestEpoch },
      { ...record, ranges: [{ from: 0, epoch: event.latestEpoch }] },
      revision,
      'taking_over',
    );
  const { ranges, owner, reserved } = record;
  return record_(state, { ranges, owner, reserved }, revision, 'cutting');
}

/** A new epoch takes effect here, at max(floor, next untaken offset); the reservation is raised with the same write. */
function fetch(state: PartitionState, event: Extract<DeliveryEvent, { type: 'fetched' }>): Step {
  const held = state.held as VersionedRecord;
  const latestEpoch = Math.max(state.latestEpoch, event.latestEpoch);
  const next: PartitionState = {
    ...state,
    latestEpoch,
    batch: { first: event.first, next: event.next },
    taken: Math.max(state.taken, event.first),
  };
  const newest = held.record.ranges.at(-1)?.epoch ?? -1;
  const cut = latestEpoch > newest;
  const reserve = event.next > held.record.reserved;
  if (!cut && !reserve) return deliver(next);
  const { ranges: before } = held.record;
  const ranges = cut ? cutRanges(before, Math.max(next.floor, next.taken), latestEpoch) : before;
  const record: PartitionRecord = {
    ...held.record,
    ranges,
    owner: state.owner,
    reserved: Math.max(held.record.reserved, event.next + (reserve ? reservedSpan : 0)),
  };
  return record_({ ...next, phase: 'recording' }, record, held.revision);
}

/** Between two batches; during one the next fetch sees the epoch. */
function cutIdle(state: PartitionState, epoch: number): Step {
  const latestEpoch = Math.max(state.latestEpoch, epoch);
  const { held } = state;
  if (state.phase !== 'ready' || held === undefined || latestEpoch <= (held.record.ranges.at(-1)?.epoch ?? -1))
    return { state: { ...state, latestEpoch }, commands: [] };
  const ranges = cutRanges(held.record.ranges, Math.max(state.floor, state.taken), latestEpoch);
  return record_({ ...state, latestEpoch, phase: 'cutting' }, { ...held.record, ranges }, held.revision);
}

function deliver(state: PartitionState): Step {
  const { batch, held } = state;
  if (batch === undefined || held === undefined) return abandon(state, 'no batch to deliver');
  const spans = spansOf(held.record.ranges, batch.first, batch.next);
  return {
    state: { ...state, phase: 'delivering', taken: Math.max(state.taken, batch.next) },
    commands: [{ type: 'deliver', spans, park: Object.keys(held.record.parked ?? {}) }],
  };
}

/** The record says so before the first message is parked: whoever takes over parks newer ones behind it (rule 9). The write also proves ownership. */
function block(
  state: PartitionState,
  { indexSets, alreadyStoredIn, sequences }: Extract<DeliveryEvent, { type: 'blocked' }>,
): Step {
  const { batch, held } = state;
  if (batch === undefined || held === undefined) return abandon(state, 'no batch to park');
  return record_(
    { ...state, phase: 'marking', blocked: { indexSets, alreadyStoredIn, sequences } },
    parkSets(held.record, indexSets, batch.first),
    held.revision,
  );
}

function parkBatch(state: PartitionState): Step {
  const { batch, held, blocked } = state;
  if (batch === undefined || held === undefined || blocked === undefined) return abandon(state, 'no batch to park');
  return {
    state: { ...state, phase: 'parking' },
    commands: [
      { type: 'park', spans: spansOf(held.record.ranges, batch.first, batch.next), indexSets: blocked.indexSets },
    ],
  };
}

function unpark(state: PartitionState, indexSet: string): Step {
  const { held } = state;
  if (state.phase !== 'ready' || held?.record.parked?.[indexSet] === undefined) return { state, commands: [] };
  return record_({ ...state, phase: 'unparking' }, unparkSet(held.record, indexSet), held.revision);
}

function stored(state: PartitionState, event: Outcome): Step {
  const next = { ...state, sequences: event.sequences };
  if (event.alreadyStoredIn.length === 0) return commit(next);
  return { state: { ...next, phase: 'syncing' }, commands: [{ type: 'sync', indices: event.alreadyStoredIn }] };
}

function commit(state: PartitionState): Step {
  const offset = state.batch?.next ?? state.committed;
  return {
    state: { ...state, phase: 'ready', committed: offset, batch: undefined },
    commands: [{ type: 'commit', offset, sequences: state.sequences }],
  };
}
