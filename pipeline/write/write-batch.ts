/** Writes the documents of one batch for one concrete index until each is stored, was stored before, or is a dead letter. */
import { errorText, isSluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { createBackOff } from '../../core/retry.js';
import { pause } from '../../core/wait.js';
import type { StoreDocuments, WriteFailure, WriteRequest } from '../../sinks/stores/contract.js';
import { pipelineErrors } from '../errors.js';
import { isBlocking, type Blockages } from './blockages.js';
import { parkingErrors } from '../parking/errors.js';
import type { IndexBatch } from '../route/route.js';

export interface WriteOutcome {
  stored: number;
  alreadyStored: number;
  retired: number;
  repaired: number;
  /** Places in the index batch of documents refused for good, with the reason. */
  readonly refused: { readonly at: number; readonly code: string; readonly reason: string }[];
  /** Places of already stored documents, where the store tells. */
  readonly alreadyStoredAt: number[];
  /** The index takes no writes: places of the documents that are to be parked. Nothing is refused or already stored then. */
  toPark: readonly number[] | undefined;
  indexBytes: number | undefined;
}

export interface WriteContext {
  readonly documents: Pick<StoreDocuments, 'write'>;
  readonly topic: string;
  readonly topicGeneration: number;
  readonly partition: number;
  readonly nextOffset: number;
  /** What became of an index that is missing or closed (rule 6): gone on purpose, given up by an operator, or neither; throws when nobody can tell. */
  readonly fate: (index: string) => Promise<'retired' | 'abandoned' | undefined>;
  readonly blockages: Blockages;
  /** False: what is blocked is held and not parked, because it comes from a parking topic. */
  readonly mayPark: boolean;
  /** Longest pause between two writes, milliseconds. */
  readonly longestPauseMs: number;
  /** A text that the index may take instead of one that it refused; undefined when there is none. */
  readonly repair: (index: string, document: string, reason: string) => string | undefined;
  /** The partition was taken away, or the program stops. */
  readonly lost: () => boolean;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly onRetry: (indexSet: string, code: string) => void;
}

type End = 'retired' | 'abandoned' | 'parked';
const ends: ReadonlySet<string | undefined> = new Set<End>(['retired', 'abandoned', 'parked']);

/** Repairs of one document before it counts as refused. */
const maxRepairs = 3;
/** Writes, about twenty seconds of them, after which a document that fails by itself counts as refused: it must not hold its partition for ever. */
const maxAttempts = 22;
const failedByItself = 'STORE_DOCUMENT_FAILED';

interface Pending {
  readonly at: number[];
  readonly repairs: Map<number, number>;
}

export async function writeIndexBatch(batch: IndexBatch, context: WriteContext): Promise<WriteOutcome> {
  const outcome: WriteOutcome = {
    stored: 0,
    alreadyStored: 0,
    retired: 0,
    repaired: 0,
    refused: [],
    alreadyStoredAt: [],
    toPark: undefined,
    indexBytes: undefined,
  };
  const documents = batch.documents;
  const repairs = new Map<number, number>();
  const backOff = createBackOff(100, context.longestPauseMs);
  let pending = batch.ids.map((_, at) => at);
  let probing = false;
  let failedOften = 0;
  for (;;) {
    if (context.lost())
      throw pipelineErrors.create(context.signal.aborted ? 'PIPELINE_STOPPED' : 'PIPELINE_PARTITION_LOST', {
        place: `${context.topic}/${context.partition}`,
      });
    const tried = probing ? pending.slice(0, 1) : pending;
    const code = await attempt(batch, documents, tried, context, outcome).then(
      (failures) => {
        probing = false;
        context.blockages.succeeded(batch.index);
        if (failures.some((failure) => failure.code === failedByItself)) failedOften += 1;
        const judged =
          failedOften < maxAttempts
            ? failures
            : failures.map((failure) =>
                failure.code === failedByItself ? { ...failure, kind: 'refused' as const } : failure,
              );
        pending = [
          ...sortFailures({ at: tried, repairs }, judged, batch, context, outcome),
          ...pending.slice(tried.length),
        ];
        const retry = judged.find((failure) => failure.kind === 'retry');
        if (retry !== undefined)
          context.log.warn(
            { index: batch.index, code: retry.code, reason: retry.reason, documents: pending.length },
            'the store did not take some documents; they are written again',
          );
        return retry?.code;
      },
      async (error: unknown) => {
        const failure = await wholeFailure(error, batch, context, outcome, pending);
        probing = isBlocking(failure);
        return failure;
      },
    );
    if (ends.has(code) || pending.length === 0) return outcome;
    if (code !== undefined) {
      context.onRetry(batch.indexSet, code);
      await pause(backOff(), context.signal);
    }
  }
}

async function attempt(
  batch: IndexBatch,
  documents: readonly string[],
  pending: readonly number[],
  context: WriteContext,
  outcome: WriteOutcome,
): Promise<readonly WriteFailure[]> {
  const all = pending.length === batch.ids.length;
  const pick = <Item>(items: readonly Item[]): readonly Item[] =>
    all ? items : pending.map((at) => items[at] as Item);
  const { topic, topicGeneration, partition } = context;
  const last = pending.at(-1) ?? 0;
  const nextOffset = last === batch.ids.length - 1 ? context.nextOffset : (batch.offsets[last] as number) + 1;
  const request: WriteRequest = {
    index: batch.index,
    topic,
    topicGeneration,
    partition,
    nextOffset,
    ids: pick(batch.ids),
    offsets: pick(batch.offsets),
    documents: pick(documents),
  };
  const result = await context.documents.write(request);
  outcome.stored += result.stored;
  outcome.alreadyStored += result.alreadyStored;
  outcome.indexBytes = result.indexBytes ?? outcome.indexBytes;
  for (const position of result.alreadyStoredAt ?? []) outcome.alreadyStoredAt.push(pending[position] as number);
  return result.failures;
}

/** What is to be written again: retries as they were, refused documents repaired; the rest is refused for good. */
function sortFailures(
  state: Pending,
  failures: readonly WriteFailure[],
  batch: IndexBatch,
  context: WriteContext,
  outcome: WriteOutcome,
): number[] {
  const again: number[] = [];
  const { documents } = batch;
  for (const failure of failures) {
    const at = state.at[failure.position] as number;
    if (failure.kind === 'retry') {
      again.push(at);
      continue;
    }
    const tries = state.repairs.get(at) ?? 0;
    const repaired =
      tries < maxRepairs ? context.repair(batch.index, documents[at] as string, failure.reason) : undefined;
    if (repaired === undefined) {
      outcome.refused.push({ at, code: failure.code, reason: failure.reason });
      continue;
    }
    state.repairs.set(at, tries + 1);
    if (tries === 0) outcome.repaired += 1;
    documents[at] = repaired;
    again.push(at);
  }
  return again;
}

/** Nothing is known of the whole request: hold and write it again, unless the index is gone on purpose or is to be parked. */
async function wholeFailure(
  error: unknown,
  batch: IndexBatch,
  context: WriteContext,
  outcome: WriteOutcome,
  pending: readonly number[],
): Promise<string> {
  const code = isSluiceError(error) ? error.code : 'STORE_UNAVAILABLE';
  const end = isBlocking(code) ? await endOf(code, errorText(error), batch, context) : undefined;
  if (end === 'retired') outcome.retired += pending.length;
  if (end === 'abandoned')
    outcome.refused.push(
      ...pending.map((at) => ({
        at,
        code: 'PARKING_INDEX_ABANDONED',
        reason: parkingErrors.kinds.PARKING_INDEX_ABANDONED.summary,
      })),
    );
  if (end === 'parked') parkUnstored(outcome, pending);
  if (end === undefined)
    context.log.warn(
      { index: batch.index, code, error: errorText(error), documents: pending.length },
      'a write to the store failed; it is repeated until it succeeds',
    );
  return end ?? code;
}

async function endOf(code: string, reason: string, batch: IndexBatch, context: WriteContext): Promise<End | undefined> {
  const fate =
    code === 'STORE_INDEX_BLOCKED' ? undefined : await context.fate(batch.index).catch(() => 'unknown' as const);
  if (fate === 'unknown') return undefined;
  if (fate !== undefined) {
    context.blockages.forget(batch.index);
    return fate;
  }
  const park = context.blockages.failed(batch.index, batch.indexSet, code, reason);
  return park && context.mayPark ? 'parked' : undefined;
}

/** Refused documents need a tombstone in the index, already stored ones may be tombstones: they are judged when the parking topic drains. */
function parkUnstored(outcome: WriteOutcome, pending: readonly number[]): void {
  outcome.toPark = [...pending, ...outcome.refused.map(({ at }) => at), ...outcome.alreadyStoredAt].sort(
    (left, right) => left - right,
  );
  outcome.refused.length = 0;
  outcome.alreadyStored -= outcome.alreadyStoredAt.length;
  outcome.alreadyStoredAt.length = 0;
}
