/** What a partition does when no batch of it is under way: takes new epochs, and gives back what is drained. */
import { errorText } from '../../core/errors.js';
import type { ConsumeContext } from './context.js';
import { parkedBy, type OwnedPartition } from './owned-partition.js';
import { run } from './run-machine.js';
import { pipelineEvents } from '../events.js';

export async function takeEpoch(context: ConsumeContext, owned: OwnedPartition): Promise<void> {
  const { topic, partition, gone, state } = owned;
  const latestEpoch = context.ledger.latestEpoch()?.number;
  if (latestEpoch === undefined || gone || state.phase !== 'ready') return;
  await run(context, owned, { type: 'epoch_appended', latestEpoch }).catch((error: unknown) => {
    pipelineEvents.epochDelayed(context.log, { topic, partition, error: errorText(error) });
  });
}

/** Rule 9: what this partition parked is stored, so newer messages are written again. */
export async function giveBack(context: ConsumeContext, owned: OwnedPartition): Promise<void> {
  const { topic, partition } = owned;
  for (const indexSet of parkedBy(owned)) {
    if (owned.gone || owned.state.phase !== 'ready') return;
    const facts = { topic, partition, index_set: indexSet };
    try {
      if (!(await owned.parking.isDrained(indexSet))) continue;
      await run(context, owned, { type: 'drained', indexSet });
      pipelineEvents.parkedMessagesDrained(context.log, facts);
    } catch (error) {
      pipelineEvents.drainUnknown(context.log, { ...facts, error: errorText(error) });
    }
  }
}

/**
 * Before a batch, where newer messages are parked behind older ones: the parking must end although new ones come all
 * the time.
 */
export async function letDrain(context: ConsumeContext, owned: OwnedPartition): Promise<void> {
  const parked = parkedBy(owned);
  if (parked.length === 0) return;
  for (const indexSet of parked) await owned.parking.awaitDrain(indexSet, context.signal).catch(() => undefined);
  await giveBack(context, owned);
}
