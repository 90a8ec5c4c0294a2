/**
 * Drains one parking topic (rule 8): each message is routed again by the epoch of its origin, and what is for this index set is
 * written to the index that the epoch names, as its partition would have done. Holds while the index takes no writes.
 */
import { errorText, toError } from '../../core/errors.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import { epochOf, prepare } from '../consume/deliver-batch.js';
import type { DeliverContext } from '../settle/context.js';
import { emptyRouted, routeDeadLetters, routeMessages, type IndexBatch } from '../route/route.js';
import { keepAsDeadLetters, settle, writeContext, type Source } from '../settle/settle.js';
import type { ConsumedBatch, ConsumedRecord, ConsumeHandler } from '../../topics/contract.js';
import { writeIndexBatch, type WriteOutcome } from '../write/write-batch.js';
import { unparkedRecord, type ParkedHeader } from './envelope.js';
import { parkingErrors } from './errors.js';
import type { parkingMetrics } from './metrics.js';

/** An index that answers again is noticed within this time. */
const longestPauseMs = 1_000;

export interface DrainContext {
  readonly deliver: DeliverContext;
  readonly metrics: BuiltMetrics<typeof parkingMetrics>;
  readonly indexSet: string;
}

/** Messages of one partition for one index, by their own offset. */
interface Group {
  readonly header: ParkedHeader;
  readonly records: ConsumedRecord[];
  readonly epochs: number[];
}

export function createDrain(context: DrainContext): ConsumeHandler {
  return {
    assigned: () => Promise.resolve(),
    revoked: () => undefined,
    async batch(batch) {
      const { log } = context.deliver;
      try {
        await batch.fence();
        const written = new Set<string>();
        for (const group of await groupsOf(context, batch)) await drainGroup(context, batch, group, written);
        for (const index of written) await context.deliver.store.documents.sync(index);
        return { commit: batch.nextOffset, metadata: '' };
      } catch (error) {
        log.warn(
          { index_set: context.indexSet, error: errorText(error) },
          'a batch of a parking topic was not drained; it comes again',
        );
        // A permanent error would end the consumer: what is parked waits until its cause is gone.
        throw parkingErrors.create('PARKING_DRAIN_FAILED', { place: batch.topic, cause: toError(error) });
      }
    },
  };
}

/** In the order of their first messages. Where messages stand in the topic again, another group begins: the store knows them. */
async function groupsOf(context: DrainContext, batch: ConsumedBatch): Promise<readonly Group[]> {
  const groups: Group[] = [];
  const open = new Map<string, Group>();
  const foreign: ConsumedRecord[] = [];
  for (const parked of batch.records) {
    const opened = unparkedRecord(parked);
    if (opened === undefined) {
      foreign.push(parked);
      continue;
    }
    const { header, record } = opened;
    const key = `${header.topic}/${header.generation}/${header.partition}/${header.index}`;
    let group = open.get(key);
    if (group === undefined || record.offset <= (group.records.at(-1)?.offset ?? -1)) {
      group = { header, records: [], epochs: [] };
      open.set(key, group);
      groups.push(group);
    }
    group.records.push(record);
    group.epochs.push(header.epoch);
  }
  const { indexSet } = context;
  const place = {
    topic: batch.topic,
    generation: foreign.length === 0 ? 0 : await context.deliver.topics.generation(batch.topic),
    partition: batch.partition,
    records: foreign,
  };
  await keepAsDeadLetters(
    context.deliver,
    place,
    wholeBatch(foreign, indexSet, ''),
    refusedAll(foreign.length, 'PARKING_RECORD_INVALID'),
  );
  return groups;
}

async function drainGroup(
  context: DrainContext,
  batch: ConsumedBatch,
  group: Group,
  alreadyStoredIn: Set<string>,
): Promise<void> {
  const { deliver, metrics, indexSet } = context;
  const { header, records } = group;
  const label = { index_set: indexSet };
  const indexBatch = await routeGroup(context, group);
  const source: Source = { topic: header.topic, generation: header.generation, partition: header.partition, records };
  const found = new Set(indexBatch.places);
  const lost = records.map((_, place) => place).filter((place) => !found.has(place));
  metrics.drained.inc(label, records.length);
  deliver.metrics.routed.inc(label, records.length);
  deliver.metrics.inFlight.inc(label, records.length);
  let open = records.length;
  try {
    if (lost.length > 0) {
      await keepAsDeadLetters(
        deliver,
        source,
        wholeBatch(records, indexSet, header.index),
        lost.map((at) => ({ at, ...refusal('PARKING_ROUTE_LOST') })),
      );
      deliver.metrics.deadLettered.inc(label, lost.length);
      open -= lost.length;
    }
    const deadLetters = header.topic === deliver.deadLettersTopic;
    const unknown = deadLetters ? await unknownDeadLetters(deliver, indexBatch, alreadyStoredIn) : indexBatch;
    if (unknown !== undefined && unknown.ids.length > 0) {
      const outcome = await write(context, batch, header, unknown);
      await settle(deliver, source, unknown, outcome);
      if (outcome.alreadyStored > 0) alreadyStoredIn.add(header.index);
    }
  } catch (error) {
    deliver.metrics.abandoned.inc(label, open);
    throw error;
  } finally {
    deliver.metrics.inFlight.dec(label, records.length);
  }
}

/** A dead letter that was parked twice may be bound for two indices. */
async function unknownDeadLetters(
  { deadLetterDeduplicator }: DeliverContext,
  batch: IndexBatch,
  alreadyStoredIn: Set<string>,
): Promise<IndexBatch | undefined> {
  const batches = new Map([[batch.index, batch]]);
  for (const index of await deadLetterDeduplicator.leaveOut(batches)) alreadyStoredIn.add(index);
  return batches.get(batch.index);
}

/** What is bound for an index that was given up is not written even if the index is back: its other messages are dead letters already. */
async function write(
  { deliver }: DrainContext,
  batch: ConsumedBatch,
  header: ParkedHeader,
  indexBatch: IndexBatch,
): Promise<WriteOutcome> {
  const shared = writeContext(deliver);
  if ((await shared.fate(header.index)) === 'abandoned') {
    deliver.blockages.forget(header.index);
    return { ...nothing, refused: refusedAll(indexBatch.ids.length, 'PARKING_INDEX_ABANDONED'), alreadyStoredAt: [] };
  }
  const nextOffset = (indexBatch.offsets.at(-1) as number) + 1;
  const lost = (): boolean => deliver.signal.aborted || batch.revoked();
  const { topic, generation, partition } = header;
  return writeIndexBatch(indexBatch, {
    ...shared,
    topic,
    topicGeneration: generation,
    partition,
    nextOffset,
    lost,
    mayPark: false,
    longestPauseMs,
  });
}

const nothing = { stored: 0, alreadyStored: 0, retired: 0, repaired: 0, toPark: undefined, indexBytes: undefined };

async function routeGroup(
  { deliver, indexSet }: DrainContext,
  { header, records, epochs }: Group,
): Promise<IndexBatch> {
  const routed = emptyRouted();
  const route = header.topic === deliver.deadLettersTopic ? routeDeadLetters : routeMessages;
  for (let start = 0, end = 0; start < records.length; start = end) {
    while (end < records.length && epochs[end] === epochs[start]) end += 1;
    const epoch = await epochOf(deliver, epochs[start] as number);
    const rules = await deliver.ruleSets.byVersion(epoch.ruleSetVersion);
    for (const index of Object.values(epoch.indices)) await prepare(deliver, index);
    route(routed, records, start, end, noPlaces, epoch, rules, deliver.route);
  }
  return (
    routed.byIndex.get(header.index) ?? {
      indexSet,
      index: header.index,
      ids: [],
      offsets: [],
      documents: [],
      places: [],
      oldest: 0,
    }
  );
}

const noPlaces: ReadonlySet<number> = new Set();

function wholeBatch(records: readonly ConsumedRecord[], indexSet: string, index: string): IndexBatch {
  return {
    indexSet,
    index,
    ids: records.map(({ key }) => key),
    offsets: records.map(({ offset }) => offset),
    documents: [],
    places: records.map((_, place) => place),
    oldest: 0,
  };
}

type Refusal = Omit<WriteOutcome['refused'][number], 'at'>;

function refusal(code: keyof typeof parkingErrors.kinds): Refusal {
  return { code, reason: parkingErrors.kinds[code].summary };
}

function refusedAll(count: number, code: keyof typeof parkingErrors.kinds): WriteOutcome['refused'] {
  return Array.from({ length: count }, (_, at) => ({ at, ...refusal(code) }));
}
