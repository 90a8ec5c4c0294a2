/**
 * The delivery protocol of one partition as a pure state machine: events in, commands out; no I/O, no clock. A driver
 * carries the commands out and reports their outcome as the next event.
 */
import { block, commit, deliver, fail, park, settle, takeBatch } from './batches.js';
import {
  abandon,
  ready,
  unassigned,
  unexpected,
  writeRecord,
  type DeliveryEvent,
  type PartitionState,
  type Step,
} from './partition-state.js';
import { cutRanges, unparkSet } from './records.js';
import { assign, checkIndexStates, takeOver } from './take-over.js';

export function step(state: PartitionState, event: DeliveryEvent): Step {
  const { phase } = state;
  switch (event.type) {
    case 'revoked':
      return { state: unassigned, commands: [] };
    case 'assigned':
      return assign(event);
    case 'record_conflict':
      return abandon(state, 'another processor has taken the partition over');
    case 'record_read':
      return phase === 'reading' ? takeOver(state, event) : unexpected(state, event);
    case 'record_written':
      return written(state, event);
    case 'index_states_read':
      return phase === 'checking_indices' ? checkIndexStates(state, event) : unexpected(state, event);
    case 'fetched':
      return phase === 'ready' ? takeBatch(state, event) : unexpected(state, event);
    case 'epoch_appended':
      return cutIdle(state, event.latestEpoch);
    case 'stored':
      return phase === 'delivering' ? settle(state, event) : unexpected(state, event);
    case 'blocked':
      return phase === 'delivering' ? block(state, event) : unexpected(state, event);
    case 'parked':
      return phase === 'parking' && state.blocked !== undefined
        ? settle({ ...state, blocked: undefined }, state.blocked)
        : unexpected(state, event);
    case 'drained':
      return unpark(state, event.indexSet);
    case 'synced':
      return phase === 'syncing' ? commit(state) : unexpected(state, event);
    case 'failed':
      return fail(state);
  }
}

function written(state: PartitionState, event: Extract<DeliveryEvent, { type: 'record_written' }>): Step {
  if (state.writing === undefined) return unexpected(state, event);
  const stored = { record: state.writing, revision: event.revision };
  const next: PartitionState = { ...state, stored, writing: undefined };
  switch (state.phase) {
    case 'recording':
      return deliver(next);
    case 'recording_parked':
      return park(next);
    case 'cutting':
    case 'unparking':
      return ready(next);
    case 'taking_over': {
      if (stored.record.unchecked !== true) return ready(next);
      const epoch = stored.record.ranges.at(-1)?.epoch ?? state.latestEpoch;
      return { state: { ...next, phase: 'checking_indices' }, commands: [{ type: 'read_index_states', epoch }] };
    }
    default:
      return unexpected(state, event);
  }
}

/** Between two batches; during one the next fetch sees the epoch. */
function cutIdle(state: PartitionState, epoch: number): Step {
  const latestEpoch = Math.max(state.latestEpoch, epoch);
  const { stored } = state;
  if (state.phase !== 'ready' || stored === undefined || latestEpoch <= (stored.record.ranges.at(-1)?.epoch ?? -1))
    return { state: { ...state, latestEpoch }, commands: [] };
  const ranges = cutRanges(stored.record.ranges, Math.max(state.floor, state.taken), latestEpoch);
  return writeRecord({ ...state, latestEpoch, phase: 'cutting' }, { ...stored.record, ranges }, stored.revision);
}

function unpark(state: PartitionState, indexSet: string): Step {
  const { stored } = state;
  if (state.phase !== 'ready' || stored?.record.parked?.[indexSet] === undefined) return { state, commands: [] };
  return writeRecord({ ...state, phase: 'unparking' }, unparkSet(stored.record, indexSet), stored.revision);
}
