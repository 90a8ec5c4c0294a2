/** One batch of one partition: route by epoch, fence, write to every index at once, keep what the store refuses as dead letters. */
import type { BuiltMetrics } from '../core/metrics.js';
import type { Log } from '../core/log.js';
import type { IndexStore } from '../sinks/stores/contract.js';
import { deadLetterId } from './delivery/ids.js';
import type { Epoch, Span } from './delivery/records.js';
import { documentLetter } from './dead-letters.js';
import { pipelineErrors } from './errors.js';
import type { Ledger } from './ledger.js';
import type { pipelineMetrics } from './metrics.js';
import { deadLetterSet, emptyRouted, parseOrigin, routeDeadLetters, routeMessages, type IndexBatch, type RouteContext, type Routed } from './route.js';
import type { RuleSets } from './rule-sets.js';
import type { ConsumedBatch, ConsumedRecord, TopicLog, TopicRecord } from './topics/contract.js';
import type { SearchableProbe } from './searchable.js';
import { writeIndexBatch, type WriteOutcome } from './write.js';

export interface DeliverContext {
  readonly store: IndexStore;
  readonly topics: TopicLog;
  readonly ledger: Ledger;
  readonly ruleSets: RuleSets;
  readonly route: RouteContext;
  /** Reads the field types of indices that are new to this process, before documents are fitted to them. */
  readonly prepareIndex: (index: string) => Promise<void>;
  readonly repair: (index: string, document: string, reason: string) => string | undefined;
  readonly logsTopic: string;
  readonly deadLettersTopic: string;
  readonly metrics: BuiltMetrics<typeof pipelineMetrics>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told after each write how large an index is, where the store knows. */
  readonly onIndexBytes: (indexSet: string, index: string, bytes: number) => void;
  readonly searchable: SearchableProbe;
}

/** Resolves with the indices that had stored some of the documents before (rule 12). */
export async function deliverBatch(context: DeliverContext, batch: ConsumedBatch, generation: number, spans: readonly Span[], skip: ReadonlySet<number>): Promise<readonly string[]> {
  const fenced = batch.fence();
  fenced.catch(() => undefined);
  const routed = await routeSpans(context, batch, spans, skip);
  await fenced;
  if (routed.unusable.length > 0) await keepUnusable(context, batch, routed);
  const batches = [...routed.byIndex.values()];
  for (const { indexSet, ids } of batches) {
    context.metrics.routed.inc({ index_set: indexSet }, ids.length);
    context.metrics.inFlight.inc({ index_set: indexSet }, ids.length);
  }
  const settled = await Promise.allSettled(batches.map((indexBatch) => writeOne(context, batch, generation, indexBatch)));
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  count(context, batch, routed, skip);
  return batches.filter((_, place) => (settled[place] as PromiseFulfilledResult<boolean>).value).map((indexBatch) => indexBatch.index);
}

async function routeSpans(context: DeliverContext, batch: ConsumedBatch, spans: readonly Span[], skip: ReadonlySet<number>): Promise<Routed> {
  const routed = emptyRouted();
  const { records } = batch;
  const route = batch.topic === context.deadLettersTopic ? routeDeadLetters : routeMessages;
  let start = 0;
  for (const span of spans) {
    const epoch = await epochOf(context, span.epoch);
    const rules = await context.ruleSets.byVersion(epoch.ruleSetVersion);
    for (const index of Object.values(epoch.indices)) await context.prepareIndex(index);
    let end = start;
    while (end < records.length && (records[end] as ConsumedRecord).offset < span.to) end += 1;
    route(routed, records, start, end, skip, epoch, rules, context.route);
    start = end;
  }
  return routed;
}

async function epochOf(context: DeliverContext, number: number): Promise<Epoch> {
  const epoch = await context.ledger.epoch(number);
  if (epoch === undefined) throw pipelineErrors.create('PIPELINE_EPOCH_MISSING', { place: `epoch ${number}` });
  return epoch;
}

/** True when some documents had been stored before. */
async function writeOne(context: DeliverContext, batch: ConsumedBatch, generation: number, indexBatch: IndexBatch): Promise<boolean> {
  const { metrics, store } = context;
  const label = { index_set: indexBatch.indexSet };
  try {
    const outcome = await writeIndexBatch(indexBatch, {
      store, topic: batch.topic, topicGeneration: generation, partition: batch.partition, nextOffset: batch.nextOffset, signal: context.signal, log: context.log, repair: context.repair,
      lost: () => context.signal.aborted || batch.revoked(),
      isRetired: async (index) => {
        const found = await context.ledger.mark(index);
        return found !== undefined && (found.mark.state === 'closed' || found.mark.state === 'deleted');
      },
      onRetry: (indexSet, code) => metrics.storeRetries.inc({ index_set: indexSet, code }),
    });
    const stubs = await stubsAmong(store, indexBatch, outcome);
    await keepRefused(context, batch, indexBatch, outcome, stubs);
    metrics.stored.inc(label, outcome.stored);
    metrics.alreadyStored.inc(label, outcome.alreadyStored - stubs.length);
    metrics.retired.inc(label, outcome.retired);
    metrics.repaired.inc(label, outcome.repaired);
    metrics.deadLettered.inc(label, outcome.refused.length + stubs.length);
    metrics.storedSeconds.observe(label, (Date.now() - indexBatch.oldest) / 1000);
    if (outcome.stored > 0) context.searchable.stored(indexBatch.indexSet, indexBatch.index, indexBatch.ids[0] as string, indexBatch.oldest);
    if (outcome.indexBytes !== undefined) context.onIndexBytes(indexBatch.indexSet, indexBatch.index, outcome.indexBytes);
    return outcome.alreadyStored > 0;
  } catch (error) {
    metrics.abandoned.inc(label, indexBatch.ids.length);
    throw error;
  } finally {
    metrics.inFlight.dec(label, indexBatch.ids.length);
  }
}

/** Rule 10: an already stored document may be the stub of a refusal whose dead letter was never written. */
async function stubsAmong(store: IndexStore, batch: IndexBatch, outcome: WriteOutcome): Promise<number[]> {
  if (store.stubsAmong === undefined || outcome.alreadyStoredAt.length === 0) return [];
  const stubs = await store.stubsAmong(batch.index, outcome.alreadyStoredAt.map((at) => batch.ids[at] as string));
  return stubs.size === 0 ? [] : outcome.alreadyStoredAt.filter((at) => stubs.has(batch.ids[at] as string));
}

async function keepRefused(context: DeliverContext, batch: ConsumedBatch, indexBatch: IndexBatch, outcome: WriteOutcome, stubs: readonly number[]): Promise<void> {
  const { indexSet, index, ids, places } = indexBatch;
  if (indexSet === deadLetterSet) {
    for (const { at, code, reason } of outcome.refused) context.log.error({ id: ids[at], code, reason }, 'a dead letter was refused by the store; it stays in its topic until that expires');
    return;
  }
  for (const { at } of outcome.refused) await context.store.writeStub(index, ids[at] as string);
  const before = stubs.map((at) => ({ at, code: 'STORE_DOCUMENT_REFUSED', reason: 'The store refused the document in an earlier delivery.' }));
  const letters = [...outcome.refused, ...before].map(({ at, code, reason }): TopicRecord => {
    const record = batch.records[places[at] as number] as ConsumedRecord;
    const { receiver, peer } = parseOrigin(record.origin);
    const origin = `${batch.topic}/${batch.partition}/${record.offset}`;
    const letter = documentLetter({ code, reason, receiver, peer, receivedAt: record.timestamp, indexSet, index, origin, raw: record.value });
    return { key: deadLetterId(record.key, indexSet), value: Buffer.from(JSON.stringify(letter)), timestamp: record.timestamp, origin: record.origin };
  });
  if (letters.length > 0) await context.topics.append(context.deadLettersTopic, 0, letters);
}

/** Records that are not messages (a foreign producer's). */
async function keepUnusable(context: DeliverContext, batch: ConsumedBatch, routed: Routed): Promise<void> {
  const letters = routed.unusable.map(({ record, error }): TopicRecord => {
    const { receiver, peer } = parseOrigin(record.origin);
    const origin = `${batch.topic}/${batch.partition}/${record.offset}`;
    const letter = documentLetter({ code: error.code, reason: error.message, receiver, peer, receivedAt: record.timestamp, indexSet: '', index: '', origin, raw: record.value });
    return { key: deadLetterId(record.key === '' ? origin : record.key, ''), value: Buffer.from(JSON.stringify(letter)), timestamp: record.timestamp, origin: record.origin };
  });
  await context.topics.append(context.deadLettersTopic, 0, letters);
  context.metrics.undecodable.inc({ topic: batch.topic }, letters.length);
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
