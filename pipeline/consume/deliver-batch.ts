/** One batch of one partition: route by epoch, fence, write to every index at once; what is for a parked index set goes to its parking topic. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSluiceError } from '../../core/errors.js';
import type { DeliverContext } from '../settle/context.js';
import { deadLetterId, sequenceOf } from '../../core/message-ids.js';
import type { Epoch, Span } from '../delivery/records.js';
import { documentDeadLetter } from '../dead-letter.js';
import { pipelineErrors } from '../errors.js';
import { isBlocking } from '../write/blockages.js';
import {
  emptyRouted,
  parseOrigin,
  routeDeadLetters,
  routeMessages,
  type IndexBatch,
  type Routed,
} from '../route/route.js';
import { settle, writeContext } from '../settle/settle.js';
import type { ConsumedBatch, ConsumedRecord, TopicRecord } from '../../topics/contract.js';
import { writeIndexBatch } from '../write/write-batch.js';

export interface Delivered {
  /** Indices that had stored some of the documents before (rule 12). */
  readonly alreadyStoredIn: readonly string[];
  /** What the indices of blocked sets did not take, to be parked. */
  readonly blocked: readonly IndexBatch[];
}

export interface Delivery {
  readonly batch: ConsumedBatch;
  /** Of the topic. */
  readonly generation: number;
  readonly spans: readonly Span[];
  /** Index sets that are parked already. */
  readonly park: ReadonlySet<string>;
  /** Places of resends. */
  readonly skip: ReadonlySet<number>;
}

/** Between two tries of what an engine did not take: what adds to the seconds until full speed when it answers again. */
export const longestPauseMs = 1_000;

export async function deliverBatch(context: DeliverContext, delivery: Delivery): Promise<Delivered> {
  const { batch, spans, skip, park } = delivery;
  const fenced = batch.fence();
  fenced.catch(() => undefined);
  const routed = await routeSpans(context, batch, spans, skip);
  await fenced;
  if (routed.unusable.length > 0) await keepUnusable(context, delivery, routed);
  const known =
    batch.topic === context.deadLettersTopic ? await context.deadLetterDeduplicator.leaveOut(routed.byIndex) : [];
  const batches = [...routed.byIndex.values()];
  context.taps?.routed(batches);
  for (const { indexSet, ids } of batches) {
    context.metrics.routed.inc({ index_set: indexSet }, ids.length);
    context.metrics.inFlight.inc({ index_set: indexSet }, ids.length);
  }
  const toWrite = park.size === 0 ? batches : batches.filter(({ indexSet }) => !park.has(indexSet));
  const parked =
    park.size === 0
      ? undefined
      : parkBatches(
          context,
          delivery,
          batches.filter(({ indexSet }) => park.has(indexSet)),
        );
  const forwarded = context.route.forwarder?.deliver(routed.forwards);
  const [settled, others] = await Promise.all([
    Promise.allSettled(toWrite.map((indexBatch) => writeOne(context, delivery, indexBatch))),
    Promise.allSettled([parked, forwarded]),
  ]);
  const failed = [...settled, ...others].find((result) => result.status === 'rejected');
  const written = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const blocked = written.flatMap((result) => result.toPark ?? []);
  if (failed !== undefined) {
    giveUp(context, blocked);
    throw failed.reason;
  }
  count(context, batch, routed, skip);
  return { alreadyStoredIn: [...known, ...written.flatMap(({ alreadyStoredIn }) => alreadyStoredIn ?? [])], blocked };
}

/** Rule 8: to the parking topics, durably and in order; the fence is asked for again, because the writes may have been retried for long. */
export async function parkBatches(
  context: DeliverContext,
  { batch, generation, spans }: Omit<Delivery, 'park' | 'skip'>,
  batches: readonly IndexBatch[],
): Promise<void> {
  try {
    await batch.fence();
    const indexSets = new Set(batches.map(({ indexSet }) => indexSet));
    await Promise.all(
      [...indexSets].map((indexSet) =>
        context.parkingTopics.append(
          indexSet,
          { batch, generation, spans },
          batches.filter((part) => part.indexSet === indexSet),
        ),
      ),
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

/** Delivered again later. */
export function giveUp(context: DeliverContext, batches: readonly IndexBatch[]): void {
  for (const { indexSet, ids } of batches) {
    context.metrics.abandoned.inc({ index_set: indexSet }, ids.length);
    context.metrics.inFlight.dec({ index_set: indexSet }, ids.length);
  }
}

/** Routing a whole batch would hold receivers of the same process up for fifty milliseconds, and large documents for longer. */
const recordsInTurn = 128;
const bytesInTurn = 64 * 1024;
const turnMs = 5;

async function routeSpans(
  context: DeliverContext,
  batch: ConsumedBatch,
  spans: readonly Span[],
  skip: ReadonlySet<number>,
): Promise<Routed> {
  const routed = emptyRouted();
  const { records } = batch;
  const route = batch.topic === context.deadLettersTopic ? routeDeadLetters : routeMessages;
  let start = 0;
  let began = performance.now();
  for (const span of spans) {
    const epoch = await epochOf(context, span.epoch);
    const rules = await context.ruleSets.byVersion(epoch.ruleSetVersion);
    for (const index of Object.values(epoch.indices)) await prepare(context, index);
    let end = start;
    while (end < records.length && (records[end] as ConsumedRecord).offset < span.to) end += 1;
    for (let from = start, to = start; from < end; from = to) {
      if (performance.now() - began > turnMs) {
        await nextTurn();
        began = performance.now();
      }
      to = endOfTurn(records, from, Math.min(end, from + recordsInTurn));
      route(routed, records, from, to, skip, epoch, rules, context.route);
    }
    start = end;
  }
  return routed;
}

/** At least one record. */
function endOfTurn(records: ConsumedBatch['records'], from: number, most: number): number {
  let to = from;
  for (let bytes = 0; to < most && (to === from || bytes < bytesInTurn); to += 1)
    bytes += (records[to] as ConsumedRecord).value.length;
  return to;
}

export async function epochOf(context: Pick<DeliverContext, 'ledger'>, number: number): Promise<Epoch> {
  const epoch = await context.ledger.epoch(number);
  if (epoch === undefined) throw pipelineErrors.create('PIPELINE_EPOCH_MISSING', { place: `epoch ${number}` });
  return epoch;
}

/** An index that is blocked is known when it is written to. */
export async function prepare(context: Pick<DeliverContext, 'prepareIndex'>, index: string): Promise<void> {
  try {
    await context.prepareIndex(index);
  } catch (error) {
    if (!isSluiceError(error) || !isBlocking(error.code)) throw error;
  }
}

async function writeOne(
  context: DeliverContext,
  { batch, generation }: Delivery,
  indexBatch: IndexBatch,
): Promise<{ readonly alreadyStoredIn?: string; readonly toPark?: IndexBatch }> {
  const { indexSet, ids } = indexBatch;
  const label = { index_set: indexSet };
  let open = ids.length;
  try {
    const { topic, partition, nextOffset, records } = batch;
    const place = {
      topic,
      topicGeneration: generation,
      partition,
      nextOffset,
      lost: () => context.signal.aborted || batch.revoked(),
      mayPark: true,
      longestPauseMs,
    };
    const outcome = await writeIndexBatch(indexBatch, { ...writeContext(context), ...place });
    await settle(context, { topic, generation, partition, records }, indexBatch, outcome);
    const toPark = outcome.toPark === undefined ? undefined : pickFrom(indexBatch, outcome.toPark);
    open -= toPark?.ids.length ?? 0;
    context.metrics.inFlight.dec(label, open);
    return {
      ...(outcome.alreadyStored > 0 ? { alreadyStoredIn: indexBatch.index } : {}),
      ...(toPark === undefined ? {} : { toPark }),
    };
  } catch (error) {
    context.metrics.abandoned.inc(label, open);
    context.metrics.inFlight.dec(label, open);
    throw error;
  }
}

function pickFrom(batch: IndexBatch, at: readonly number[]): IndexBatch {
  const pick = <Item>(items: readonly Item[]): Item[] => at.map((place) => items[place] as Item);
  return {
    ...batch,
    ids: pick(batch.ids),
    offsets: pick(batch.offsets),
    documents: pick(batch.documents),
    places: pick(batch.places),
  };
}

/** Records that are not messages (a foreign producer's). */
async function keepUnusable(context: DeliverContext, { batch, generation }: Delivery, routed: Routed): Promise<void> {
  const deadLetters = routed.unusable.map(({ record, error }): TopicRecord => {
    const { receiver, peer } = parseOrigin(record.origin);
    const origin = `${batch.topic}/${generation}/${batch.partition}/${record.offset}`;
    const deadLetter = documentDeadLetter({
      code: error.code,
      reason: error.message,
      receiver,
      peer,
      receivedAt: record.timestamp,
      indexSet: '',
      index: '',
      origin,
      raw: record.value,
    });
    // A foreign key may come again and again; the place does not.
    return {
      key: deadLetterId(sequenceOf(record.key) === undefined ? origin : record.key, ''),
      value: Buffer.from(JSON.stringify(deadLetter)),
      timestamp: record.timestamp,
      origin: record.origin,
    };
  });
  await context.topics.append(context.deadLettersTopic, 0, deadLetters);
  context.metrics.undecodable.inc({ topic: batch.topic }, deadLetters.length);
}

function count(context: DeliverContext, batch: ConsumedBatch, routed: Routed, skip: ReadonlySet<number>): void {
  const { metrics, ruleSets } = context;
  metrics.resent.inc({ topic: batch.topic }, skip.size);
  metrics.dropped.inc(routed.dropped);
  for (const [stream, messages] of routed.streams) metrics.streamMessages.inc({ stream }, messages);
  for (const ruleSet of ruleSets.loaded()) {
    const counts = ruleSet.takeCounts();
    for (const [rule, matched] of counts.matched) metrics.ruleMatches.inc({ rule }, matched);
    for (const [rule, failed] of counts.failed) metrics.ruleFailures.inc({ rule }, failed);
  }
}
