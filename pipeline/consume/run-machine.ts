/**
 * Feeds an event to the state machine of a partition and does what it commands, until it waits for the next event from
 * outside.
 */
import { isSluiceError, toError } from '../../core/errors.js';
import { encodeSequences } from '../delivery/sequences.js';
import { step } from '../delivery/machine.js';
import type { DeliveryCommand, DeliveryEvent } from '../delivery/partition-state.js';
import type { ConsumeContext } from './context.js';
import { deliverBatch, parkBatches } from './deliver-batch.js';
import { whileOwned, type OwnedPartition } from './owned-partition.js';
import { pipelineEvents } from '../events.js';

type Command<Type extends DeliveryCommand['type']> = Extract<DeliveryCommand, { type: Type }>;

export async function run(context: ConsumeContext, owned: OwnedPartition, event: DeliveryEvent): Promise<void> {
  owned.committed = undefined;
  owned.abandoned = undefined;
  let next: DeliveryEvent | undefined = event;
  while (next !== undefined) {
    const { state, commands } = step(owned.state, next);
    owned.state = state;
    next = undefined;
    for (const command of commands) next = await carryOut(context, owned, command);
  }
  const { topic, partition, abandoned } = owned;
  if (abandoned !== undefined) pipelineEvents.partitionLost(context.log, { topic, partition, reason: abandoned });
}

/** Resolves with the outcome as the machine's next event; undefined: none follows. */
async function carryOut(
  context: ConsumeContext,
  owned: OwnedPartition,
  command: DeliveryCommand,
): Promise<DeliveryEvent | undefined> {
  switch (command.type) {
    case 'read_record':
      return readRecord(context, owned);
    case 'write_record':
      return writeRecord(context, owned, command);
    case 'read_index_states':
      return readIndexStates(context, owned, command);
    case 'deliver':
      return deliver(context, owned, command);
    case 'park':
      return park(context, owned, command);
    case 'sync':
      for (const index of command.indices)
        await whileOwned(context, owned, () => context.store.documents.sync(index).catch(unlessGone));
      return { type: 'synced' };
    case 'commit':
      owned.committed = { commit: command.offset, metadata: encodeSequences(command.sequences) };
      return undefined;
    case 'ready':
      return undefined;
    case 'abandon':
      owned.abandoned = command.reason;
      return undefined;
  }
}

async function readRecord(context: ConsumeContext, owned: OwnedPartition): Promise<DeliveryEvent> {
  const { ledger } = context;
  owned.parking.reset();
  const found = await whileOwned(context, owned, () => ledger.partitionRecord(owned));
  const stillOwner = await whileOwned(context, owned, () => isStillOwner(owned));
  return { type: 'record_read', found, latestEpoch: ledger.latestEpoch()?.number ?? -1, stillOwner };
}

/**
 * Rule 2, asked after the record was read: a processor that was paused does not know by itself that its partition is
 * another's now.
 */
async function isStillOwner({ batch, fence }: OwnedPartition): Promise<boolean> {
  try {
    await (batch === undefined ? fence() : batch.fence());
    return true;
  } catch (error) {
    if (isSluiceError(error) && error.code === 'TOPIC_PARTITION_REVOKED') return false;
    throw error;
  }
}

/** A write whose answer was lost looks like a conflict with ourselves: what stands there decides. */
async function writeRecord(
  context: ConsumeContext,
  owned: OwnedPartition,
  { record, expected }: Command<'write_record'>,
): Promise<DeliveryEvent> {
  const { ledger } = context;
  const revision = await whileOwned(context, owned, () => ledger.writePartitionRecord(owned, record, expected));
  if (revision !== undefined) return { type: 'record_written', revision };
  const found = await whileOwned(context, owned, () => ledger.partitionRecord(owned));
  return found !== undefined && JSON.stringify(found.record) === JSON.stringify(record)
    ? { type: 'record_written', revision: found.revision }
    : { type: 'record_conflict' };
}

async function readIndexStates(
  context: ConsumeContext,
  owned: OwnedPartition,
  command: Command<'read_index_states'>,
): Promise<DeliveryEvent> {
  const { ledger } = context;
  const epoch = await ledger.epoch(command.epoch);
  const states = await whileOwned(context, owned, () => ledger.indexStates());
  const retired = Object.values(epoch?.indices ?? {}).some(
    (index) => (states.get(index)?.value.state ?? 'open') !== 'open',
  );
  if (retired) await ledger.refresh();
  return { type: 'index_states_read', retired, latestEpoch: ledger.latestEpoch()?.number ?? command.epoch };
}

async function deliver(
  context: ConsumeContext,
  owned: OwnedPartition,
  command: Command<'deliver'>,
): Promise<DeliveryEvent> {
  const { batch, check, generation } = owned;
  if (batch === undefined || check === undefined) return { type: 'failed' };
  command.park.forEach((indexSet) => owned.parking.appended(indexSet));
  try {
    const delivery = { batch, generation, spans: command.spans, park: new Set(command.park), skip: check.resent };
    const { alreadyStoredIn, blocked } = await deliverBatch(context, delivery);
    owned.blocked = blocked;
    const outcome = { alreadyStoredIn, sequences: check.after };
    return blocked.length === 0
      ? { type: 'stored', ...outcome }
      : { type: 'blocked', indexSets: [...new Set(blocked.map(({ indexSet }) => indexSet))], ...outcome };
  } catch (error) {
    throw failed(owned, error);
  }
}

async function park(context: ConsumeContext, owned: OwnedPartition, command: Command<'park'>): Promise<DeliveryEvent> {
  const { batch, topic, generation, partition, blocked } = owned;
  if (batch === undefined) return { type: 'failed' };
  pipelineEvents.indexSetsParked(context.log, { topic, partition, index_sets: command.indexSets });
  command.indexSets.forEach((indexSet) => owned.parking.appended(indexSet));
  owned.blocked = [];
  try {
    await parkBatches(context, { batch, generation, spans: command.spans }, blocked);
    return { type: 'parked' };
  } catch (error) {
    throw failed(owned, error);
  }
}

function failed(owned: OwnedPartition, error: unknown): Error {
  owned.state = step(owned.state, { type: 'failed' }).state;
  return toError(error);
}

/** An index that is missing has nothing to sync; one that was closed has been synced by that. */
function unlessGone(error: unknown): void {
  if (!isSluiceError(error) || (error.code !== 'STORE_INDEX_MISSING' && error.code !== 'STORE_INDEX_CLOSED'))
    throw error;
}
