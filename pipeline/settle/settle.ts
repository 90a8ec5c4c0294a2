/** What follows a write: tombstones and dead letters for what the store refused (rule 10), and the counts. */
import { isSluiceError } from '../../core/errors.js';
import { documentDeadLetter } from '../dead-letter.js';
import type { DeliverContext } from './context.js';
import { deadLetterId } from '../../core/message-ids.js';
import { pipelineErrors } from '../errors.js';
import { isBlocking } from '../write/blockages.js';
import { parkingErrors } from '../parking/errors.js';
import { deadLetterSet } from '../../schemas/index-sets.js';
import { parseOrigin, type IndexBatch } from '../route/route.js';
import type { ConsumedRecord, TopicRecord } from '../../topics/contract.js';
import type { WriteContext, WriteOutcome } from '../write/write-batch.js';

/** Where the documents of an index batch come from; its `places` are places in `records`. */
export interface Source {
  readonly topic: string;
  readonly generation: number;
  readonly partition: number;
  readonly records: readonly ConsumedRecord[];
}

type Shared = 'documents' | 'signal' | 'log' | 'repair' | 'fate' | 'onRetry' | 'blockages';

/** The part of a write's context that does not depend on the batch. */
export function writeContext(context: DeliverContext): Pick<WriteContext, Shared> {
  const { store, signal, log, repair, blockages, ledger, metrics } = context;
  return {
    documents: store.documents,
    signal,
    log,
    repair,
    blockages,
    fate: async (index) => {
      const indexState = (await ledger.indexState(index))?.value;
      if (indexState?.state === 'abandoned') return 'abandoned';
      return indexState?.state === 'closed' ||
        indexState?.state === 'deleted' ||
        (indexState?.state === 'retiring' && indexState.action === 'delete')
        ? 'retired'
        : undefined;
    },
    onRetry: (indexSet, code) => metrics.storeRetries.inc({ index_set: indexSet, code }),
  };
}

export async function settle(
  context: DeliverContext,
  source: Source,
  indexBatch: IndexBatch,
  outcome: WriteOutcome,
): Promise<void> {
  const { metrics } = context;
  const label = { index_set: indexBatch.indexSet };
  const tombstones = await tombstonesAmong(context, indexBatch, outcome).catch(asUnusable);
  const kept = await keepRefused(context, source, indexBatch, outcome, tombstones);
  outcome.alreadyStored += outcome.refused.length + tombstones.length - kept;
  metrics.stored.inc(label, outcome.stored);
  metrics.alreadyStored.inc(label, outcome.alreadyStored - tombstones.length);
  metrics.retired.inc(label, outcome.retired);
  metrics.repaired.inc(label, outcome.repaired);
  metrics.deadLettered.inc(label, kept);
  if (outcome.stored > 0) {
    metrics.storedSeconds.observe(label, (Date.now() - indexBatch.oldest) / 1000);
    context.searchable.stored(indexBatch.indexSet, indexBatch.index, indexBatch.ids[0] as string, indexBatch.oldest);
  }
  if (outcome.indexBytes !== undefined) context.onIndexBytes(indexBatch.indexSet, indexBatch.index, outcome.indexBytes);
}

function asUnusable(error: unknown): never {
  if (isSluiceError(error) && isBlocking(error.code))
    throw parkingErrors.create('PARKING_INDEX_UNUSABLE', { place: error.place, cause: error });
  throw error;
}

/**
 * Rule 10: an already stored document may be the tombstone of a refusal whose dead letter was never written. Rule 12: it is synced before it is read, for
 * an engine that died since it answered may have lost it; then the batch is written again.
 */
async function tombstonesAmong(
  { store }: DeliverContext,
  { index, ids }: IndexBatch,
  { alreadyStoredAt }: WriteOutcome,
): Promise<number[]> {
  if (store.capabilities().deduplicates !== 'id' || alreadyStoredAt.length === 0) return [];
  await store.documents.sync(index);
  const found = await store.documents.read(
    index,
    alreadyStoredAt.map((at) => ids[at] as string),
  );
  const lost = alreadyStoredAt.filter((at) => !found.has(ids[at] as string));
  if (lost.length > 0)
    throw pipelineErrors.create('PIPELINE_DOCUMENTS_LOST', {
      place: index,
      got: `${lost.length} documents, ${ids[lost[0] as number]} among them`,
    });
  return alreadyStoredAt.filter((at) => found.get(ids[at] as string)?.tombstone === true);
}

/** Resolves with how many are dead letters now (or lost ones of the dead letters' own set); of the others a late copy was taken after all. */
async function keepRefused(
  context: DeliverContext,
  source: Source,
  indexBatch: IndexBatch,
  outcome: WriteOutcome,
  tombstones: readonly number[],
): Promise<number> {
  const { indexSet, index, ids } = indexBatch;
  if (indexSet === deadLetterSet) {
    for (const { at, code, reason } of outcome.refused)
      context.log.error(
        { id: ids[at], code, reason },
        'a dead letter was refused by the store; it stays in its topic until that expires',
      );
    return outcome.refused.length;
  }
  const isAbandoned = ({ code }: WriteOutcome['refused'][number]): boolean => code === 'PARKING_INDEX_ABANDONED';
  const toTombstone = outcome.refused.filter((one) => !isAbandoned(one));
  const stand =
    toTombstone.length === 0
      ? []
      : await context.store.documents
          .writeTombstones(
            index,
            toTombstone.map(({ at }) => ({ id: ids[at] as string })),
          )
          .catch(asUnusable);
  const taken = new Set(toTombstone.filter((_, place) => stand[place] === false));
  const refused = outcome.refused.filter((one) => !taken.has(one));
  const before = tombstones.map((at) => ({
    at,
    code: 'STORE_DOCUMENT_REFUSED',
    reason: 'The store refused the document in an earlier delivery.',
  }));
  await keepAsDeadLetters(context, source, indexBatch, [...refused, ...before]);
  return refused.length + before.length;
}

export async function keepAsDeadLetters(
  context: DeliverContext,
  source: Source,
  indexBatch: IndexBatch,
  refused: WriteOutcome['refused'],
): Promise<void> {
  const { indexSet, index, places } = indexBatch;
  const deadLetters = refused.map(({ at, code, reason }): TopicRecord => {
    const record = source.records[places[at] as number] as ConsumedRecord;
    const { receiver, peer } = parseOrigin(record.origin);
    const origin = `${source.topic}/${source.generation}/${source.partition}/${record.offset}`;
    const deadLetter = documentDeadLetter({
      code,
      reason,
      receiver,
      peer,
      receivedAt: record.timestamp,
      indexSet,
      index,
      origin,
      raw: record.value,
    });
    return {
      key: deadLetterId(record.key, indexSet),
      value: Buffer.from(JSON.stringify(deadLetter)),
      timestamp: record.timestamp,
      origin: record.origin,
    };
  });
  if (deadLetters.length > 0) await context.topics.append(context.deadLettersTopic, 0, deadLetters);
}
