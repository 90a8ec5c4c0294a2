/**
 * Delivers one batch of one partition: route by epoch, fence, write to all indices at once. What is for a parked index
 * set goes to its parking topic.
 */
import type { ConsumedBatch } from '../../topics/contract.js';
import { deadLetterRecord, recordOrigin } from '../dead-letter.js';
import { sequenceOf } from '../../core/message-ids.js';
import type { Span } from '../delivery/records.js';
import { pickDocuments, type IndexBatch } from '../index-batch.js';
import type { Routed } from '../route/routed.js';
import { writeContext } from '../settle/context.js';
import { settle } from '../settle/settle.js';
import { writeIndexBatch } from '../write/write-index-batch.js';
import type { ConsumeContext } from './context.js';
import { routeBatch } from './route-batch.js';

interface Delivered {
  /** Indices that had stored some of the documents before (rule 12). */
  readonly alreadyStoredIn: readonly string[];
  /** What the indices of blocked sets did not take, to be parked. */
  readonly blocked: readonly IndexBatch[];
}

interface Delivery {
  readonly batch: ConsumedBatch;
  /** Of the topic. */
  readonly generation: number;
  readonly spans: readonly Span[];
  /** Index sets that are parked already. */
  readonly park: ReadonlySet<string>;
  /** Positions of resends in the batch. */
  readonly skip: ReadonlySet<number>;
}

/**
 * Between two attempts at what an engine did not take. It adds to the seconds until full speed when the engine answers
 * again.
 */
export const longestPauseMs = 1_000;

export async function deliverBatch(context: ConsumeContext, delivery: Delivery): Promise<Delivered> {
  const { batch, spans, skip, park } = delivery;
  const fenced = batch.fence();
  fenced.catch(() => undefined);
  const routed = await routeBatch(context, batch, spans, skip);
  await fenced;
  await deadLetterUnusable(context, delivery, routed);
  const isDeadLetters = batch.topic === context.deadLettersTopic;
  const known = isDeadLetters ? await context.deadLetterDeduplicator.leaveOut(routed.byIndex) : [];
  const batches = [...routed.byIndex.values()];
  context.taps?.routed(batches);
  countInFlight(context, batches);
  const ofParked = batches.filter(({ indexSet }) => park.has(indexSet));
  const toWrite = ofParked.length === 0 ? batches : batches.filter(({ indexSet }) => !park.has(indexSet));
  const parked = park.size === 0 ? undefined : parkBatches(context, delivery, ofParked);
  const forwarded = context.route.forwarder?.deliver(routed.forwards);
  const [written, others] = await Promise.all([
    Promise.allSettled(toWrite.map((indexBatch) => writeOne(context, delivery, indexBatch))),
    Promise.allSettled([parked, forwarded]),
  ]);
  const ended = written.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const blocked = ended.flatMap(({ toPark }) => toPark ?? []);
  const failed = [...written, ...others].find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    giveUp(context, blocked);
    throw failed.reason;
  }
  count(context, delivery, routed);
  return { alreadyStoredIn: [...known, ...ended.flatMap(({ alreadyStoredIn }) => alreadyStoredIn ?? [])], blocked };
}

/**
 * Rule 8: to the parking topics, durably and in order. Fenced again, because the writes may have been retried for long.
 */
export async function parkBatches(
  context: ConsumeContext,
  { batch, generation, spans }: Pick<Delivery, 'batch' | 'generation' | 'spans'>,
  batches: readonly IndexBatch[],
): Promise<void> {
  try {
    await batch.fence();
    const indexSets = new Set(batches.map(({ indexSet }) => indexSet));
    await Promise.all(
      [...indexSets].map((indexSet) => {
        const ofSet = batches.filter((part) => part.indexSet === indexSet);
        return context.parkingTopics.append(indexSet, { batch, generation, spans }, ofSet);
      }),
    );
    for (const { indexSet, ids } of batches) {
      context.metrics.parked.inc({ index_set: indexSet }, ids.length);
      context.metrics.inFlight.dec({ index_set: indexSet }, ids.length);
    }
  } catch (error) {
    giveUp(context, batches);
    throw error;
  }
}

function countInFlight({ metrics }: ConsumeContext, batches: readonly IndexBatch[]): void {
  for (const { indexSet, ids } of batches) {
    metrics.routed.inc({ index_set: indexSet }, ids.length);
    metrics.inFlight.inc({ index_set: indexSet }, ids.length);
  }
}

/** Counts documents that are not settled now: they are delivered again later. */
export function giveUp({ metrics }: ConsumeContext, batches: readonly IndexBatch[]): void {
  for (const { indexSet, ids } of batches) {
    metrics.abandoned.inc({ index_set: indexSet }, ids.length);
    metrics.inFlight.dec({ index_set: indexSet }, ids.length);
  }
}

interface WrittenIndexBatch {
  /** The index, when it had stored some of the documents before. */
  readonly alreadyStoredIn?: string;
  readonly toPark?: IndexBatch;
}

async function writeOne(
  context: ConsumeContext,
  { batch, generation }: Delivery,
  indexBatch: IndexBatch,
): Promise<WrittenIndexBatch> {
  const { metrics, signal } = context;
  const label = { index_set: indexBatch.indexSet };
  let open = indexBatch.ids.length;
  try {
    const { topic, partition, nextOffset, records } = batch;
    const outcome = await writeIndexBatch(indexBatch, {
      ...writeContext(context),
      topic,
      topicGeneration: generation,
      partition,
      nextOffset,
      lost: () => signal.aborted || batch.revoked(),
      mayPark: true,
      longestPauseMs,
    });
    await settle(context, { source: { topic, generation, partition, records }, batch: indexBatch, outcome });
    const toPark = outcome.toPark === undefined ? undefined : pickDocuments(indexBatch, outcome.toPark);
    open -= toPark?.ids.length ?? 0;
    metrics.inFlight.dec(label, open);
    return {
      ...(outcome.alreadyStored > 0 ? { alreadyStoredIn: indexBatch.index } : {}),
      ...(toPark === undefined ? {} : { toPark }),
    };
  } catch (error) {
    metrics.abandoned.inc(label, open);
    metrics.inFlight.dec(label, open);
    throw error;
  }
}

/** Records that are no messages (a foreign producer's) become dead letters. */
async function deadLetterUnusable(
  { topics, deadLettersTopic, metrics }: ConsumeContext,
  { batch: { topic, partition }, generation }: Delivery,
  { unusable }: Routed,
): Promise<void> {
  if (unusable.length === 0) return;
  const deadLetters = unusable.map(({ record, error }) => {
    const origin = recordOrigin({ topic, generation, partition }, record.offset);
    // A foreign key may come again and again; the origin does not.
    const key = sequenceOf(record.key) === undefined ? origin : record.key;
    return deadLetterRecord({ key, record, code: error.code, reason: error.message, indexSet: '', index: '', origin });
  });
  await topics.append(deadLettersTopic, 0, deadLetters);
  metrics.undecodable.inc({ topic }, deadLetters.length);
}

function count({ metrics, ruleSets }: ConsumeContext, { batch, skip }: Delivery, routed: Routed): void {
  metrics.resent.inc({ topic: batch.topic }, skip.size);
  metrics.dropped.inc(routed.dropped);
  for (const [stream, messages] of routed.streams) metrics.streamMessages.inc({ stream }, messages);
  for (const ruleSet of ruleSets.loaded()) {
    const counts = ruleSet.takeCounts();
    for (const [rule, matched] of counts.matched) metrics.ruleMatches.inc({ rule }, matched);
    for (const [rule, failed] of counts.failed) metrics.ruleFailures.inc({ rule }, failed);
  }
}
