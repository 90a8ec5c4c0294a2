/** Writes the documents of one index batch until each is stored, was stored before, or is refused for good. */
import { at } from '../../core/at.js';
import { errorText, isSluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { createBackOff } from '../../core/retry/retry.js';
import { pause } from '../../core/wait.js';
import type { StoreDocuments, WriteFailure } from '../../sinks/stores/contract.js';
import { isBlockingCode } from '../blocking.js';
import { pipelineErrors } from '../errors.js';
import type { IndexBatch } from '../index-batch.js';
import type { Blockages } from './blockages.js';
import { writeErrors } from './errors.js';
import { pipelineEvents } from '../events.js';

/** Positions are those of the index batch. */
export interface RefusedDocument {
  readonly at: number;
  readonly code: string;
  readonly reason: string;
}

export interface WriteOutcome {
  stored: number;
  alreadyStored: number;
  /** Documents whose index retention has removed: done without a write. */
  retired: number;
  repaired: number;
  /** Documents refused for good. */
  readonly refused: RefusedDocument[];
  /** Positions of already stored documents, where the store tells. */
  readonly alreadyStoredAt: number[];
  /** The index takes no writes: positions of the documents to be parked. Nothing is refused or already stored then. */
  toPark: readonly number[] | undefined;
  indexBytes: number | undefined;
}

/** What became of an index that is missing or closed (rule 6): gone on purpose, given up by an operator, or neither. */
export type IndexFate = 'retired' | 'abandoned' | undefined;

export interface WriteContext {
  readonly documents: Pick<StoreDocuments, 'write'>;
  readonly topic: string;
  readonly topicGeneration: number;
  readonly partition: number;
  readonly nextOffset: number;
  /** Rejects when nobody can tell. */
  readonly fate: (index: string) => Promise<IndexFate>;
  readonly blockages: Blockages;
  /** False: what is blocked is tried again and not parked, because it comes from a parking topic. */
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

/** Repairs of one document before it counts as refused. */
const maxRepairs = 3;
/**
 * Writes, about twenty seconds of them, after which a document that fails by itself counts as refused: it must not hold
 * its partition for ever.
 */
const maxAttempts = 22;
const failedByItself = 'STORE_DOCUMENT_FAILED';

export function writeIndexBatch(batch: IndexBatch, context: WriteContext): Promise<WriteOutcome> {
  return new IndexBatchWrite(batch, context).run();
}

/**
 * `done`: nothing more is written. A code: written again after a pause, for this reason. Undefined: written again at
 * once.
 */
type Next = 'done' | { readonly retryFor: string } | undefined;

class IndexBatchWrite {
  readonly #batch: IndexBatch;
  readonly #context: WriteContext;
  readonly #outcome: WriteOutcome = {
    stored: 0,
    alreadyStored: 0,
    retired: 0,
    repaired: 0,
    refused: [],
    alreadyStoredAt: [],
    toPark: undefined,
    indexBytes: undefined,
  };
  /** Positions of the documents that are still to be written. */
  #pending: readonly number[];
  /** Repairs so far, by position. */
  readonly #repairs = new Map<number, number>();
  /** The index was blocked: one document is tried before all. */
  #probing = false;
  /** Writes in which a document failed by itself. */
  #failedOften = 0;

  constructor(batch: IndexBatch, context: WriteContext) {
    this.#batch = batch;
    this.#context = context;
    this.#pending = batch.ids.map((_, at) => at);
  }

  async run(): Promise<WriteOutcome> {
    const { signal, onRetry, longestPauseMs } = this.#context;
    const backOff = createBackOff(100, longestPauseMs);
    for (;;) {
      this.#assertOwned();
      const tried = this.#probing ? this.#pending.slice(0, 1) : this.#pending;
      const next = await this.#write(tried).then(
        (failures) => this.#afterAnswer(tried, failures),
        (error: unknown) => this.#afterError(error),
      );
      if (next === 'done' || this.#pending.length === 0) return this.#outcome;
      if (next === undefined) continue;
      onRetry(this.#batch.indexSet, next.retryFor);
      await pause(backOff(), signal);
    }
  }

  #assertOwned(): void {
    const { lost, signal, topic, partition } = this.#context;
    if (lost())
      throw pipelineErrors.create(signal.aborted ? 'PIPELINE_STOPPED' : 'PIPELINE_PARTITION_LOST', {
        place: `${topic}/${partition}`,
      });
  }

  async #write(positions: readonly number[]): Promise<readonly WriteFailure[]> {
    const { ids, offsets, documents, index } = this.#batch;
    const { topic, topicGeneration, partition } = this.#context;
    const isAll = positions.length === ids.length;
    const pick = <Item>(items: readonly Item[]): readonly Item[] =>
      isAll ? items : positions.map((index) => at(items, index));
    const last = positions.at(-1) ?? 0;
    const nextOffset = last === ids.length - 1 ? this.#context.nextOffset : at(offsets, last) + 1;
    const result = await this.#context.documents.write({
      index,
      topic,
      topicGeneration,
      partition,
      nextOffset,
      ids: pick(ids),
      offsets: pick(offsets),
      documents: pick(documents),
    });
    const outcome = this.#outcome;
    outcome.stored += result.stored;
    outcome.alreadyStored += result.alreadyStored;
    outcome.indexBytes = result.indexBytes ?? outcome.indexBytes;
    for (const position of result.alreadyStoredAt ?? []) outcome.alreadyStoredAt.push(at(positions, position));
    return result.failures;
  }

  #afterAnswer(tried: readonly number[], answered: readonly WriteFailure[]): Next {
    const { blockages, log } = this.#context;
    const { index } = this.#batch;
    this.#probing = false;
    blockages.succeeded(index);
    if (answered.some(({ code }) => code === failedByItself)) this.#failedOften += 1;
    const failures = this.#failedOften < maxAttempts ? answered : answered.map(asRefused);
    this.#pending = [...this.#toWriteAgain(tried, failures), ...this.#pending.slice(tried.length)];
    const retry = failures.find(({ kind }) => kind === 'retry');
    if (retry === undefined) return undefined;
    pipelineEvents.documentsRepeated(log, {
      index,
      code: retry.code,
      reason: retry.reason,
      documents: this.#pending.length,
    });
    return { retryFor: retry.code };
  }

  /**
   * Positions of retries as they were, and of refused documents once they are repaired; the rest is refused for good.
   */
  #toWriteAgain(tried: readonly number[], failures: readonly WriteFailure[]): number[] {
    const again: number[] = [];
    for (const failure of failures) {
      const index = at(tried, failure.position);
      if (failure.kind === 'retry' || this.#repair(index, failure.reason)) again.push(index);
      else this.#outcome.refused.push({ at: index, code: failure.code, reason: failure.reason });
    }
    return again;
  }

  #repair(position: number, reason: string): boolean {
    const { index, documents } = this.#batch;
    const repairs = this.#repairs.get(position) ?? 0;
    const repaired = repairs < maxRepairs ? this.#context.repair(index, at(documents, position), reason) : undefined;
    if (repaired === undefined) return false;
    this.#repairs.set(position, repairs + 1);
    if (repairs === 0) this.#outcome.repaired += 1;
    documents[position] = repaired;
    return true;
  }

  /**
   * Nothing is known of the whole request: it is sent again, unless the index is gone on purpose or is to be parked.
   */
  async #afterError(error: unknown): Promise<Next> {
    const { index } = this.#batch;
    const code = isSluiceError(error) ? error.code : 'STORE_UNAVAILABLE';
    this.#probing = isBlockingCode(code);
    if (this.#probing && (await this.#endedBlocked(code, errorText(error)))) {
      this.#probing = false;
      return 'done';
    }
    pipelineEvents.writeRepeated(this.#context.log, {
      index,
      code,
      error: errorText(error),
      documents: this.#pending.length,
    });
    return { retryFor: code };
  }

  /** Whether no document is written any more, because the index takes no writes. */
  async #endedBlocked(code: string, reason: string): Promise<boolean> {
    const { blockages, mayPark } = this.#context;
    const { index, indexSet } = this.#batch;
    const fate = code === 'STORE_INDEX_BLOCKED' ? undefined : await this.#fate();
    if (fate === 'unknown') return false;
    if (fate === undefined) {
      const isTimeToPark = blockages.failed(index, indexSet, code, reason);
      if (isTimeToPark && mayPark) this.#park();
      return isTimeToPark && mayPark;
    }
    blockages.forget(index);
    if (fate === 'retired') this.#outcome.retired += this.#pending.length;
    else this.#refusePending();
    return true;
  }

  async #fate(): Promise<IndexFate | 'unknown'> {
    try {
      return await this.#context.fate(this.#batch.index);
    } catch {
      return 'unknown';
    }
  }

  #refusePending(): void {
    const code = 'PARKING_INDEX_ABANDONED';
    const reason = writeErrors.kinds[code].summary;
    for (const at of this.#pending) this.#outcome.refused.push({ at, code, reason });
  }

  /**
   * Refused documents need a tombstone in the index, already stored ones may be tombstones: they are judged when the
   * parking topic drains.
   */
  #park(): void {
    const outcome = this.#outcome;
    outcome.toPark = [...this.#pending, ...outcome.refused.map(({ at }) => at), ...outcome.alreadyStoredAt].sort(
      (left, right) => left - right,
    );
    outcome.refused.length = 0;
    outcome.alreadyStored -= outcome.alreadyStoredAt.length;
    outcome.alreadyStoredAt.length = 0;
  }
}

function asRefused(failure: WriteFailure): WriteFailure {
  return failure.code === failedByItself ? { ...failure, kind: 'refused' } : failure;
}
