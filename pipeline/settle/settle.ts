/** What follows a write: tombstones and dead letters for what the store refused (rule 10), and the counts. */
import { at } from '../../core/at.js';
import { isSluiceError } from '../../core/errors.js';
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { ConsumedRecord } from '../../topics/contract.js';
import { isBlocking } from '../blocking.js';
import { deadLetterRecord, recordOrigin, type PartitionName } from '../dead-letter.js';
import { pipelineErrors } from '../errors.js';
import type { IndexBatch } from '../index-batch.js';
import { writeErrors } from '../write/errors.js';
import type { RefusedDocument, WriteOutcome } from '../write/write-index-batch.js';
import type { DeliveryContext } from './context.js';
import { pipelineEvents } from '../events.js';

/** The records that the documents of an index batch come from. */
export interface Source extends PartitionName {
  readonly records: readonly ConsumedRecord[];
}

interface Written {
  readonly source: Source;
  readonly batch: IndexBatch;
  readonly outcome: WriteOutcome;
}

export async function settle(context: DeliveryContext, written: Written): Promise<void> {
  const { batch, outcome } = written;
  const tombstones = await tombstonesAmong(context, written).catch(asUnusable);
  const deadLettered = await settleRefused(context, written, tombstones);
  outcome.alreadyStored += outcome.refused.length + tombstones.length - deadLettered;
  count(context, batch, outcome, { tombstones: tombstones.length, deadLettered });
  if (outcome.stored > 0) context.searchable.stored(batch.indexSet, batch.index, at(batch.ids, 0), batch.oldest);
  if (outcome.indexBytes !== undefined) context.onIndexBytes(batch.indexSet, batch.index, outcome.indexBytes);
}

function count(
  { metrics }: DeliveryContext,
  { indexSet, oldest }: IndexBatch,
  outcome: WriteOutcome,
  { tombstones, deadLettered }: { readonly tombstones: number; readonly deadLettered: number },
): void {
  const label = { index_set: indexSet };
  metrics.stored.inc(label, outcome.stored);
  metrics.alreadyStored.inc(label, outcome.alreadyStored - tombstones);
  metrics.retired.inc(label, outcome.retired);
  metrics.repaired.inc(label, outcome.repaired);
  metrics.deadLettered.inc(label, deadLettered);
  if (outcome.stored > 0) metrics.storedSeconds.observe(label, (Date.now() - oldest) / 1000);
}

function asUnusable(error: unknown): never {
  if (isSluiceError(error) && isBlocking(error))
    throw writeErrors.create('PARKING_INDEX_UNUSABLE', { place: error.place, cause: error });
  throw error;
}

/**
 * Positions of already stored documents that are tombstones (rule 10): the dead letter of such a refusal may never have
 * been written. Rule 12: the index is synced before it is read, for an engine that died since it answered may have lost
 * what it had; then the batch is written again.
 */
async function tombstonesAmong({ store }: DeliveryContext, { batch, outcome }: Written): Promise<number[]> {
  const { index, ids } = batch;
  const { alreadyStoredAt } = outcome;
  if (store.capabilities().deduplicates !== 'id' || alreadyStoredAt.length === 0) return [];
  await store.documents.sync(index);
  const found = await store.documents.read(
    index,
    alreadyStoredAt.map((index) => at(ids, index)),
  );
  const lost = alreadyStoredAt.filter((index) => !found.has(at(ids, index)));
  if (lost.length > 0)
    throw pipelineErrors.create('PIPELINE_DOCUMENTS_LOST', {
      place: index,
      got: `${lost.length} documents, ${ids[at(lost, 0)]} among them`,
    });
  return alreadyStoredAt.filter((index) => found.get(at(ids, index))?.tombstone === true);
}

/**
 * Resolves with how many are dead letters now, or lost ones of the dead letters' own set. Of the others a late copy was
 * taken after all.
 */
async function settleRefused(
  context: DeliveryContext,
  written: Written,
  tombstones: readonly number[],
): Promise<number> {
  const { batch, outcome } = written;
  if (batch.indexSet === deadLetterSet) {
    logLostDeadLetters(context, batch, outcome.refused);
    return outcome.refused.length;
  }
  const taken = await takenAfterAll(context, batch, outcome.refused);
  const refused = outcome.refused.filter((one) => !taken.has(one));
  const refusedBefore = tombstones.map((at) => ({
    at,
    code: 'STORE_DOCUMENT_REFUSED',
    reason: 'The store refused the document in an earlier delivery.',
  }));
  const all = [...refused, ...refusedBefore];
  await appendDeadLetters(context, written.source, batch, all);
  return all.length;
}

function logLostDeadLetters({ log }: DeliveryContext, { ids }: IndexBatch, refused: readonly RefusedDocument[]): void {
  for (const { at, code, reason } of refused) pipelineEvents.deadLetterRefused(log, { id: ids[at], code, reason });
}

/** Writes the tombstones of refused documents; the store tells of which of them it has a copy that came late. */
async function takenAfterAll(
  { store }: DeliveryContext,
  { index, ids }: IndexBatch,
  refused: readonly RefusedDocument[],
): Promise<ReadonlySet<RefusedDocument>> {
  const toTombstone = refused.filter(({ code }) => code !== 'PARKING_INDEX_ABANDONED');
  if (toTombstone.length === 0) return new Set();
  const tombstones = toTombstone.map(({ at: index }) => ({ id: at(ids, index) }));
  const stands = await store.documents.writeTombstones(index, tombstones).catch(asUnusable);
  return new Set(toTombstone.filter((_, at) => stands[at] === false));
}

export async function appendDeadLetters(
  { topics, deadLettersTopic }: DeliveryContext,
  source: Source,
  { indexSet, index, recordPositions }: IndexBatch,
  refused: readonly RefusedDocument[],
): Promise<void> {
  if (refused.length === 0) return;
  const deadLetters = refused.map(({ at: position, code, reason }) => {
    const record = at(source.records, at(recordPositions, position));
    const origin = recordOrigin(source, record.offset);
    return deadLetterRecord({ key: record.key, record, code, reason, indexSet, index, origin });
  });
  await topics.append(deadLettersTopic, 0, deadLetters);
}
