/** Writes replayed messages to their target indices, each under its own id, and says for each what became of it. */
import { at } from '../../core/at.js';
import { isSluiceError } from '../../core/errors.js';
import type { IndexStore, StoreDocuments } from '../../sinks/stores/contract.js';
import type { DeliveryContext } from '../settle/context.js';
import type { IndexBatch } from '../index-batch.js';
import { writeContext } from '../settle/context.js';
import { writeIndexBatch, type WriteOutcome } from '../write/write-index-batch.js';
import { deadLetterErrors } from './errors.js';
import { groupBy } from './group.js';
import type { Unusable } from './message.js';
import type { SetOutcome } from './replay-machine.js';

export interface MessageWrite {
  /** Of one document. */
  readonly batch: IndexBatch;
  /** Revision of the tombstone that gives way. */
  readonly tombstone: string | undefined;
}

export interface Written {
  readonly indexSet: string;
  readonly index: string;
  /** `unanswered`: the index did not answer in time, or took no writes. */
  readonly outcome: SetOutcome['outcome'] | 'unanswered';
  readonly reason: Unusable | undefined;
}

/** How long an index may be blocked or overloaded before its dead letters are left for another replay. */
const patienceMs = 15_000;
const longestPauseMs = 1_000;

/** One request an index; results by write. */
export async function writeMessages(writes: readonly MessageWrite[], context: DeliveryContext): Promise<Written[]> {
  const written = new Array<Written>(writes.length);
  const groups = groupBy(writes.keys(), (position) => at(writes, position).batch.index);
  await Promise.all(
    [...groups.values()].map(async (places) => {
      const results = await writeGroup(
        places.map((index) => at(writes, index)),
        context,
      );
      for (const [index, place] of places.entries()) written[place] = at(results, index);
    }),
  );
  return written;
}

async function writeGroup(writes: readonly MessageWrite[], context: DeliveryContext): Promise<Written[]> {
  const batch = joined(writes.map((write) => write.batch));
  const { indexSet, index } = batch;
  try {
    const outcome = await writeIndexBatch(batch, {
      ...writeContext(context),
      ...placeOf(),
      documents: replayDocuments(writes, context.store),
    });
    const results = await judge(writes, batch, outcome, context);
    count(context, indexSet, outcome, results);
    if (outcome.indexBytes !== undefined) context.onIndexBytes(indexSet, index, outcome.indexBytes);
    return results;
  } catch (error) {
    if (context.signal.aborted || !isSluiceError(error) || !error.retryable) throw error;
    return writes.map(() => ({ indexSet, index, outcome: 'unanswered', reason: undefined }));
  }
}

function joined(batches: readonly IndexBatch[]): IndexBatch {
  const [first] = batches as readonly [IndexBatch, ...IndexBatch[]];
  return {
    indexSet: first.indexSet,
    index: first.index,
    oldest: first.oldest,
    ids: batches.flatMap(({ ids }) => ids),
    offsets: batches.map(() => 0),
    documents: batches.flatMap(({ documents }) => documents),
    recordPositions: batches.map((_, at) => at),
  };
}

/** Of no partition: nobody can take it away, but an index that does not answer is not waited for without end. */
function placeOf() {
  const deadline = performance.now() + patienceMs;
  return {
    topic: 'replay',
    topicGeneration: 0,
    partition: 0,
    nextOffset: 0,
    lost: () => performance.now() > deadline,
    mayPark: false,
    longestPauseMs,
  } as const;
}

function replayDocuments(writes: readonly MessageWrite[], store: IndexStore): Pick<StoreDocuments, 'write'> {
  const tombstones = new Map(
    writes.flatMap(({ batch, tombstone }) => (tombstone === undefined ? [] : [[at(batch.ids, 0), tombstone] as const])),
  );
  return { write: (request) => store.documents.write({ ...request, replay: { tombstones } }) };
}

async function judge(
  writes: readonly MessageWrite[],
  batch: IndexBatch,
  outcome: WriteOutcome,
  { store }: DeliveryContext,
): Promise<Written[]> {
  const { indexSet, index, ids } = batch;
  const rest: SetOutcome['outcome'] = outcome.retired > 0 ? 'retired' : 'stored';
  const results = writes.map((): Written => ({ indexSet, index, outcome: rest, reason: undefined }));
  const abandoned = outcome.refused.filter(({ code }) => code === 'PARKING_INDEX_ABANDONED');
  for (const { at } of abandoned) results[at] = { indexSet, index, outcome: 'retired', reason: undefined };
  // Rule 10, and the tombstone of an earlier refusal is written anew, so that what is still on its way fits nowhere.
  const refused = outcome.refused.filter((one) => !abandoned.includes(one));
  const stand =
    refused.length === 0
      ? []
      : await store.documents.writeTombstones(
          index,
          refused.map(({ at: index }) => ({ id: at(ids, index), renews: writes[index]?.tombstone })),
        );
  for (const [place, { at, code, reason }] of refused.entries()) {
    results[at] =
      stand[place] === false
        ? { indexSet, index, outcome: 'stored', reason: undefined }
        : { indexSet, index, outcome: 'refused', reason: { code, reason } };
  }
  if (outcome.alreadyStoredAt.length === 0 || store.capabilities().deduplicates !== 'id') return results;
  // Rule 12: what was met may be lost until the flush, so it is looked at afterwards.
  await store.documents.sync(index);
  const found = await store.documents.read(
    index,
    outcome.alreadyStoredAt.map((index) => at(ids, index)),
  );
  const error = deadLetterErrors.create('DEAD_LETTER_STUB_MET', { place: index });
  for (const position of outcome.alreadyStoredAt) {
    const met = found.get(at(ids, position));
    if (met === undefined) results[position] = { indexSet, index, outcome: 'unanswered', reason: undefined };
    else if (met.tombstone)
      results[position] = { indexSet, index, outcome: 'refused', reason: { code: error.code, reason: error.message } };
  }
  return results;
}

function count(
  { metrics }: DeliveryContext,
  indexSet: string,
  outcome: WriteOutcome,
  results: readonly Written[],
): void {
  const label = { index_set: indexSet };
  const refused = results.filter((result) => result.outcome === 'refused').length;
  metrics.routed.inc(label, results.length);
  metrics.stored.inc(label, outcome.stored);
  metrics.deadLettered.inc(label, refused);
  metrics.retired.inc(label, results.filter((result) => result.outcome === 'retired').length);
  metrics.alreadyStored.inc(
    label,
    Math.max(0, results.filter((result) => result.outcome === 'stored').length - outcome.stored),
  );
  metrics.repaired.inc(label, outcome.repaired);
}
