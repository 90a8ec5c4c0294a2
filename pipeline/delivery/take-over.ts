/** How a partition is taken over (rules 2, 4 and 7), up to its first batch. */
import {
  abandon,
  unassigned,
  writeRecord,
  type DeliveryEvent,
  type PartitionState,
  type Step,
} from './partition-state.js';
import { ownerBefore, prunedRanges, reservedSpan, type PartitionRecord } from './records.js';

export function assign(event: Extract<DeliveryEvent, { type: 'assigned' }>): Step {
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

/**
 * Rule 2, and rule 4's floor: what a former owner may still write lies below the log end and below what was reserved.
 */
export function takeOver(state: PartitionState, event: Extract<DeliveryEvent, { type: 'record_read' }>): Step {
  const { found, latestEpoch } = event;
  const generation = state.owner.groupGeneration;
  if (!event.stillOwner) return abandon(state, `the group has taken the partition away from generation ${generation}`);
  if (found === undefined) return beginRecord(state, latestEpoch);
  const former = found.record.owner;
  const reset = former.groupGeneration > generation;
  const owner = { incarnation: former.incarnation + (reset ? 1 : 0), groupGeneration: generation };
  if (ownerBefore(owner, former)) return abandon(state, 'a newer owner has taken the partition over');
  const floor = Math.max(Math.min(state.logEnd, found.record.reserved), state.highestMarker);
  const record: PartitionRecord = {
    ...found.record,
    // Pruned only here: a commit of this owner may still be refused or lost, the position of the assignment is durable.
    ranges: prunedRanges(found.record, state.committed),
    owner,
    reserved: Math.max(found.record.reserved, state.taken + reservedSpan),
  };
  return writeRecord(
    { ...state, owner, phase: 'taking_over', latestEpoch, floor, stored: found },
    record,
    found.revision,
  );
}

function beginRecord(state: PartitionState, latestEpoch: number): Step {
  const owner = { incarnation: 0, groupGeneration: state.owner.groupGeneration };
  const record: PartitionRecord = {
    ranges: [{ from: 0, epoch: latestEpoch }],
    owner,
    reserved: state.taken + reservedSpan,
    unchecked: true,
  };
  return writeRecord(
    { ...state, owner, phase: 'taking_over', latestEpoch, floor: state.highestMarker },
    record,
    undefined,
  );
}

/**
 * Rule 7: a new partition's record may name an index that was retired before the record was there to be seen. That it
 * names none is written down: an owner that died before it knew must not be trusted by the next one.
 */
export function checkIndexStates(
  state: PartitionState,
  event: Extract<DeliveryEvent, { type: 'index_states_read' }>,
): Step {
  if (state.stored === undefined) return abandon(state, 'no record to check');
  const { record, revision } = state.stored;
  if (!event.retired) {
    const { ranges, owner, reserved } = record;
    return writeRecord({ ...state, phase: 'cutting' }, { ranges, owner, reserved }, revision);
  }
  const ranges = [{ from: 0, epoch: event.latestEpoch }];
  const next: PartitionState = { ...state, phase: 'taking_over', latestEpoch: event.latestEpoch };
  return writeRecord(next, { ...record, ranges }, revision);
}
