/** How one batch passes: its record, its delivery, what is parked of it, its commit. */
import {
  abandon,
  writeRecord,
  type DeliveryEvent,
  type Outcome,
  type PartitionState,
  type Step,
} from './partition-state.js';
import { cutRanges, parkSets, reservedSpan, spansOf, type PartitionRecord } from './records.js';

/** A new epoch takes effect here, at max(floor, next untaken offset); the reservation is raised with the same write. */
export function takeBatch(state: PartitionState, event: Extract<DeliveryEvent, { type: 'fetched' }>): Step {
  const { stored } = state;
  if (stored === undefined) return abandon(state, 'no record for the batch');
  const latestEpoch = Math.max(state.latestEpoch, event.latestEpoch);
  const next: PartitionState = {
    ...state,
    latestEpoch,
    batch: { first: event.first, next: event.next },
    taken: Math.max(state.taken, event.first),
  };
  const { ranges: before, reserved } = stored.record;
  const isCut = latestEpoch > (before.at(-1)?.epoch ?? -1);
  const isBeyond = event.next > reserved;
  if (!isCut && !isBeyond) return deliver(next);
  const record: PartitionRecord = {
    ...stored.record,
    ranges: isCut ? cutRanges(before, Math.max(next.floor, next.taken), latestEpoch) : before,
    owner: state.owner,
    reserved: Math.max(reserved, event.next + (isBeyond ? reservedSpan : 0)),
  };
  return writeRecord({ ...next, phase: 'recording' }, record, stored.revision);
}

export function deliver(state: PartitionState): Step {
  const { batch, stored } = state;
  if (batch === undefined || stored === undefined) return abandon(state, 'no batch to deliver');
  const spans = spansOf(stored.record.ranges, batch.first, batch.next);
  return {
    state: { ...state, phase: 'delivering', taken: Math.max(state.taken, batch.next) },
    commands: [{ type: 'deliver', spans, park: Object.keys(stored.record.parked ?? {}) }],
  };
}

/**
 * The record says so before the first message is parked: whoever takes over parks newer ones behind it (rule 9). The
 * write also proves ownership.
 */
export function block(
  state: PartitionState,
  { indexSets, alreadyStoredIn, sequences }: Extract<DeliveryEvent, { type: 'blocked' }>,
): Step {
  const { batch, stored } = state;
  if (batch === undefined || stored === undefined) return abandon(state, 'no batch to park');
  return writeRecord(
    { ...state, phase: 'recording_parked', blocked: { indexSets, alreadyStoredIn, sequences } },
    parkSets(stored.record, indexSets, batch.first),
    stored.revision,
  );
}

export function park(state: PartitionState): Step {
  const { batch, stored, blocked } = state;
  if (batch === undefined || stored === undefined || blocked === undefined) return abandon(state, 'no batch to park');
  const spans = spansOf(stored.record.ranges, batch.first, batch.next);
  return {
    state: { ...state, phase: 'parking' },
    commands: [{ type: 'park', spans, indexSets: blocked.indexSets }],
  };
}

export function settle(state: PartitionState, { sequences, alreadyStoredIn }: Outcome): Step {
  const next = { ...state, sequences };
  if (alreadyStoredIn.length === 0) return commit(next);
  return { state: { ...next, phase: 'syncing' }, commands: [{ type: 'sync', indices: alreadyStoredIn }] };
}

export function commit(state: PartitionState): Step {
  const offset = state.batch?.next ?? state.committed;
  return {
    state: { ...state, phase: 'ready', committed: offset, batch: undefined },
    commands: [{ type: 'commit', offset, sequences: state.sequences }],
  };
}

/** It will come again. */
export function fail(state: PartitionState): Step {
  const phase = state.phase === 'abandoned' ? 'abandoned' : 'ready';
  return { state: { ...state, phase, batch: undefined, blocked: undefined }, commands: [] };
}
