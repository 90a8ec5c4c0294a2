/** One batch of one partition, from its fetch to what may be committed. */
import type { ConsumedBatch } from '../../topics/contract.js';
import { encodeSequences, type checkResends } from '../delivery/sequences.js';
import { pipelineErrors } from '../errors.js';
import { letDrain } from './between-batches.js';
import type { ConsumeContext } from './context.js';
import { giveUp } from './deliver-batch.js';
import { placeOf, type OwnedPartition } from './owned-partition.js';
import { run } from './run-machine.js';
import { reassign } from './take-over.js';
import { pipelineEvents } from '../events.js';

export async function consumeBatch(
  context: ConsumeContext,
  owned: OwnedPartition,
  batch: ConsumedBatch,
  check: typeof checkResends,
): Promise<{ commit: number; metadata: string }> {
  const first = batch.records[0];
  if (first === undefined) return { commit: batch.nextOffset, metadata: encodeSequences(owned.state.sequences) };
  owned.batch = batch;
  owned.oldest = first.timestamp;
  try {
    if (owned.state.phase === 'abandoned') await reassign(context, owned, batch);
    await letDrain(context, owned);
    context.metrics.consumed.inc({ topic: batch.topic }, batch.records.length);
    owned.check = check(batch.records, owned.state.sequences);
    await run(context, owned, {
      type: 'fetched',
      first: first.offset,
      next: batch.nextOffset,
      latestEpoch: context.ledger.latestEpoch()?.number ?? -1,
    });
    if (owned.committed === undefined)
      throw pipelineErrors.create('PIPELINE_PARTITION_LOST', { place: placeOf(owned), got: owned.abandoned });
    reportGaps(context, owned);
    return owned.committed;
  } finally {
    giveUp(context, owned.blocked);
    owned.blocked = [];
    owned.batch = undefined;
    owned.oldest = undefined;
  }
}

function reportGaps({ metrics, log }: ConsumeContext, { check, topic, partition }: OwnedPartition): void {
  if (check === undefined) return;
  const { missing, evicted } = check;
  metrics.missing.inc({ topic }, missing);
  metrics.runsEvicted.inc({ topic }, evicted);
  if (missing > 0) pipelineEvents.recordsMissing(log, { topic, partition, missing });
  if (evicted > 0) pipelineEvents.receiverRunsForgotten(log, { topic, partition, evicted });
}
