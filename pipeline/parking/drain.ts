/**
 * Drains one parking topic (rule 8): each message is routed again by the epoch of its origin, and what is for this
 * index set is written to the index that the epoch names, as its partition would have done. Waits while the index takes
 * no writes.
 */
import { errorText, toError } from '../../core/errors.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import type { ConsumedBatch, ConsumedRecord, ConsumeHandler } from '../../topics/contract.js';
import type { DeadLetterDeduplicator } from '../dead-letters/deduplicator.js';
import type { IndexBatch } from '../index-batch.js';
import { writeContext, type DeliveryContext } from '../settle/context.js';
import { appendDeadLetters, settle, type Source } from '../settle/settle.js';
import { writeErrors } from '../write/errors.js';
import { writeIndexBatch, type RefusedDocument, type WriteOutcome } from '../write/write-index-batch.js';
import { allDocuments, groupParked, routeGroup, type ParkedGroup } from './drain-groups.js';
import type { ParkedHeader } from './envelope.js';
import { parkingErrors } from './errors.js';
import type { parkingMetrics } from './metrics.js';
import { pipelineEvents } from '../events.js';

/** An index that answers again is noticed within this time. */
const longestPauseMs = 1_000;

export interface DrainContext {
  readonly delivery: DeliveryContext;
  readonly deadLetterDeduplicator: DeadLetterDeduplicator;
  readonly metrics: BuiltMetrics<typeof parkingMetrics>;
  readonly indexSet: string;
}

export function createDrain(context: DrainContext): ConsumeHandler {
  const { delivery, indexSet } = context;
  return {
    assigned: () => Promise.resolve(),
    revoked: () => undefined,
    async batch(batch) {
      try {
        await batch.fence();
        await drainBatch(context, batch);
        return { commit: batch.nextOffset, metadata: '' };
      } catch (error) {
        pipelineEvents.parkedBatchRepeated(delivery.log, { index_set: indexSet, error: errorText(error) });
        // A permanent error would end the consumer: what is parked waits until its cause is gone.
        throw parkingErrors.create('PARKING_DRAIN_FAILED', { place: batch.topic, cause: toError(error) });
      }
    },
  };
}

async function drainBatch(context: DrainContext, batch: ConsumedBatch): Promise<void> {
  const { groups, foreign } = groupParked(batch.records);
  await deadLetterForeign(context, batch, foreign);
  const alreadyStoredIn = new Set<string>();
  for (const group of groups) await drainGroup(context, batch, group, alreadyStoredIn);
  for (const index of alreadyStoredIn) await context.delivery.store.documents.sync(index);
}

/** Records that a foreign producer put into the topic. */
async function deadLetterForeign(
  { delivery, indexSet }: DrainContext,
  { topic, partition }: ConsumedBatch,
  records: readonly ConsumedRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const source = { topic, generation: await delivery.topics.generation(topic), partition, records };
  await appendDeadLetters(
    delivery,
    source,
    allDocuments(records, indexSet, ''),
    refusedAll(records.length, 'PARKING_RECORD_INVALID', parkingErrors.kinds.PARKING_RECORD_INVALID.summary),
  );
}

async function drainGroup(
  context: DrainContext,
  batch: ConsumedBatch,
  group: ParkedGroup,
  alreadyStoredIn: Set<string>,
): Promise<void> {
  const { delivery, metrics, indexSet } = context;
  const { header, records } = group;
  const label = { index_set: indexSet };
  const indexBatch = await routeGroup(delivery, indexSet, group);
  const source: Source = { topic: header.topic, generation: header.generation, partition: header.partition, records };
  metrics.drained.inc(label, records.length);
  delivery.metrics.routed.inc(label, records.length);
  delivery.metrics.inFlight.inc(label, records.length);
  let open = records.length;
  try {
    open -= await deadLetterLost(context, source, header, indexBatch);
    const unknown = await withoutKnown(context, header, indexBatch, alreadyStoredIn);
    if (unknown === undefined || unknown.ids.length === 0) return;
    const outcome = await write(context, batch, header, unknown);
    await settle(delivery, { source, batch: unknown, outcome });
    if (outcome.alreadyStored > 0) alreadyStoredIn.add(header.index);
  } catch (error) {
    delivery.metrics.abandoned.inc(label, open);
    throw error;
  } finally {
    delivery.metrics.inFlight.dec(label, records.length);
  }
}

/** Messages that are not routed to the index any more that they were parked for. Resolves with how many. */
async function deadLetterLost(
  { delivery, indexSet }: DrainContext,
  source: Source,
  header: ParkedHeader,
  { recordPositions }: IndexBatch,
): Promise<number> {
  const { records } = source;
  const routed = new Set(recordPositions);
  const code = 'PARKING_ROUTE_LOST';
  const reason = parkingErrors.kinds[code].summary;
  const lost = records.flatMap((_, at): RefusedDocument[] => (routed.has(at) ? [] : [{ at, code, reason }]));
  if (lost.length === 0) return 0;
  await appendDeadLetters(delivery, source, allDocuments(records, indexSet, header.index), lost);
  delivery.metrics.deadLettered.inc({ index_set: indexSet }, lost.length);
  return lost.length;
}

/** A dead letter that was parked twice may be bound for two indices. */
async function withoutKnown(
  { delivery, deadLetterDeduplicator }: DrainContext,
  header: ParkedHeader,
  batch: IndexBatch,
  alreadyStoredIn: Set<string>,
): Promise<IndexBatch | undefined> {
  if (header.topic !== delivery.deadLettersTopic) return batch;
  const batches = new Map([[batch.index, batch]]);
  for (const index of await deadLetterDeduplicator.leaveOut(batches)) alreadyStoredIn.add(index);
  return batches.get(batch.index);
}

/**
 * What is bound for an index that was given up is not written even if the index is back: its other messages are dead
 * letters already.
 */
async function write(
  { delivery }: DrainContext,
  batch: ConsumedBatch,
  header: ParkedHeader,
  indexBatch: IndexBatch,
): Promise<WriteOutcome> {
  const shared = writeContext(delivery);
  const { topic, generation, partition, index } = header;
  if ((await shared.fate(index)) === 'abandoned') {
    delivery.blockages.forget(index);
    return outcomeOfAbandoned(indexBatch.ids.length);
  }
  return writeIndexBatch(indexBatch, {
    ...shared,
    topic,
    topicGeneration: generation,
    partition,
    nextOffset: (indexBatch.offsets.at(-1) as number) + 1,
    lost: () => delivery.signal.aborted || batch.revoked(),
    mayPark: false,
    longestPauseMs,
  });
}

function outcomeOfAbandoned(documents: number): WriteOutcome {
  const code = 'PARKING_INDEX_ABANDONED';
  return {
    stored: 0,
    alreadyStored: 0,
    retired: 0,
    repaired: 0,
    refused: refusedAll(documents, code, writeErrors.kinds[code].summary),
    alreadyStoredAt: [],
    toPark: undefined,
    indexBytes: undefined,
  };
}

function refusedAll(count: number, code: string, reason: string): RefusedDocument[] {
  return Array.from({ length: count }, (_, at) => ({ at, code, reason }));
}
