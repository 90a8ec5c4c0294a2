/**
 * Takes a partition over (rules 2, 4 and 11): what stands in its record and its indices comes before the first batch.
 */
import type { Assignment, ConsumedBatch } from '../../topics/contract.js';
import { isBlocking } from '../blocking.js';
import { decodeSequences } from '../delivery/sequences.js';
import { pipelineErrors } from '../errors.js';
import type { ConsumeContext } from './context.js';
import { placeOf, type OwnedPartition } from './owned-partition.js';
import { run } from './run-machine.js';

export async function assign(context: ConsumeContext, owned: OwnedPartition, assignment: Assignment): Promise<void> {
  await context.ledger.refresh();
  const { groupGeneration, position, logEnd, committed } = assignment;
  const sequences = decodeSequences(committed?.metadata ?? '');
  const highestMarker = await highestMarkerOf(context, owned, logEnd);
  await run(context, owned, { type: 'assigned', groupGeneration, position, logEnd, highestMarker, sequences });
}

/** A partition that was abandoned on a conflict but has not been taken away: taken over anew from the last commit. */
export async function reassign(context: ConsumeContext, owned: OwnedPartition, batch: ConsumedBatch): Promise<void> {
  if (batch.revoked()) throw pipelineErrors.create('PIPELINE_PARTITION_LOST', { place: placeOf(owned) });
  const { sequences } = owned.state;
  const { groupGeneration, logEnd } = batch;
  const position = batch.records[0]?.offset ?? batch.nextOffset;
  await context.ledger.refresh();
  const highestMarker = await highestMarkerOf(context, owned, logEnd);
  await run(context, owned, { type: 'assigned', groupGeneration, position, logEnd, highestMarker, sequences });
}

/** Epochs whose indices are asked for their markers; what a crash can leave unsettled lies in the newest. */
const markedEpochs = 3;

/** Rule 11: the largest marker of this partition among the newest indices of all sets. */
async function highestMarkerOf(
  { store, ledger }: ConsumeContext,
  { topic, generation, partition }: OwnedPartition,
  logEnd: number,
): Promise<number> {
  if (store.capabilities().deduplicates !== 'offset') return 0;
  let highest = 0;
  const newest = ledger.latestEpoch()?.number ?? -1;
  const recent = [...ledger.epochs().values()].filter((epoch) => epoch.number > newest - markedEpochs);
  for (const index of new Set(recent.flatMap((epoch) => Object.values(epoch.indices)))) {
    if ((await ledger.indexState(index))?.value.state !== 'open') continue;
    try {
      const markers = await store.documents.markers(index, topic, generation);
      highest = Math.max(highest, markers.get(partition) ?? 0);
    } catch (error) {
      if (!isBlocking(error)) throw error;
      // Its marker is at most the log end, and a cut may lie higher than it has to.
      highest = Math.max(highest, logEnd);
    }
  }
  return highest;
}
