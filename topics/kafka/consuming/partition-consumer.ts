/**
 * One assigned partition: learns where it stands, then hands batches to the handler one after the other and commits
 * what it returns. kafkajs only fills its queue, so that a handler which waits for minutes delays neither other
 * partitions nor heartbeats.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isSluiceError } from '../../../core/errors.js';
import type { Semaphore } from '../../../core/semaphore.js';
import type { Assignment, ConsumedBatch, ConsumedRecord, ConsumeHandler, ConsumeOptions } from '../../contract.js';
import { topicErrors } from '../../errors.js';
import type { GroupSession } from './group-session.js';
import { consumedBytes, type FetchedRun } from '../records/consumed-records.js';

const pauseAfterRejectionMs = 500;
const firstRetryMs = 100;
const longestRetryMs = 500;
/** Kafka refuses metadata above 4,096 bytes. */
const maxMetadataBytes = 4_000;

interface PartitionEvents {
  /** Offsets of the partition now. */
  readonly offsets: () => Promise<{ readonly earliest: number; readonly logEnd: number }>;
  /** Starts fetching at an offset. */
  readonly fetchFrom: (offset: number) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Limits the handlers that run at the same time. */
  readonly handlers: Pick<Semaphore, 'run'>;
  readonly lost: (expected: number, found: number) => void;
  readonly handled: (records: number, lag: number) => void;
  readonly rejected: (error: unknown) => void;
  /** The consumer cannot go on. */
  readonly failed: (error: unknown) => void;
}

export class PartitionConsumer {
  readonly topic: string;
  readonly partition: number;
  readonly session: GroupSession;
  readonly #options: ConsumeOptions;
  readonly #handler: ConsumeHandler;
  readonly #events: PartitionEvents;
  #queue: ConsumedRecord[] = [];
  #queuedBytes = 0;
  #logEnd = 0;
  /** The offset that the next fetched record is expected at. */
  #expected = 0;
  #committedMetadata = '';
  #paused = true;
  #draining = false;
  #over = false;
  #announced = false;
  #wake: (() => void) | undefined;
  readonly #ended = new AbortController();

  constructor(
    place: { topic: string; partition: number; session: GroupSession },
    options: ConsumeOptions,
    handler: ConsumeHandler,
    events: PartitionEvents,
  ) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.session = place.session;
    this.#options = options;
    this.#handler = handler;
    this.#events = events;
  }

  get committedMetadata(): string {
    return this.#committedMetadata;
  }

  /** Takes what was fetched. */
  push({ records, nextOffset }: FetchedRun, logEnd: number): void {
    if (this.#over) return;
    const first = records[0];
    if (first !== undefined && first.offset !== this.#expected) this.#events.lost(this.#expected, first.offset);
    this.#expected = nextOffset;
    this.#logEnd = logEnd;
    for (const record of records) {
      this.#queue.push(record);
      this.#queuedBytes += consumedBytes(record);
    }
    if (this.#queuedBytes >= this.#options.maxBatchBytes || this.#queue.length >= this.#options.maxBatchRecords)
      this.#pause();
    this.#wake?.();
  }

  /** Runs until the partition is lost. Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#begin();
      while (!this.#over && !this.#draining) {
        if (this.#queue.length === 0 || !(await this.#isFullOrWaited())) {
          await this.#untilWoken();
          continue;
        }
        await this.#events.handlers.run(() => this.#handleNext());
      }
    } catch (thrown: unknown) {
      if (!this.#over) this.#events.failed(thrown);
    }
  }

  /** No further batch is begun. */
  drain(): void {
    this.#draining = true;
    this.#wake?.();
  }

  /** The partition is gone: nothing of it is committed any more. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended.abort();
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#wake?.();
    if (this.#announced) this.#handler.revoked(this.topic, this.partition);
  }

  async #begin(): Promise<void> {
    const committed = await this.#retried(() => this.session.committed(this.topic, this.partition));
    const offsets = await this.#retried(() => this.#events.offsets());
    if (offsets === undefined || this.#over || this.#draining) return;
    const { earliest, logEnd } = offsets;
    const position = this.#startAt(committed?.offset, earliest, logEnd);
    this.#expected = position;
    this.#logEnd = logEnd;
    this.#committedMetadata = committed?.metadata ?? '';
    const assignment: Assignment = {
      topic: this.topic,
      partition: this.partition,
      groupGeneration: this.session.generation,
      position,
      committed,
      earliest,
      logEnd,
      fence: () => this.#fence(),
    };
    this.#announced = true;
    await this.#retried(() => this.#handler.assigned(assignment));
    if (this.#over) return;
    this.#events.fetchFrom(position);
    this.#resume();
  }

  /**
   * Never the log end because of an offset that is out of range: what was there before is lost and said so, what is
   * there now is read.
   */
  #startAt(committed: number | undefined, earliest: number, logEnd: number): number {
    if (committed === undefined) return earliest;
    if (committed >= earliest && committed <= logEnd) return committed;
    this.#events.lost(committed, earliest);
    return earliest;
  }

  async #handleNext(): Promise<void> {
    if (this.#over || this.#draining) return;
    const batch = this.#takeBatch();
    const result = await this.#handleUntilAccepted(batch);
    if (result === undefined) return;
    await this.#commit(batch, result);
    this.#events.handled(batch.records.length, Math.max(0, this.#logEnd - batch.nextOffset));
  }

  #takeBatch(): ConsumedBatch {
    let bytes = 0;
    let count = 0;
    for (const record of this.#queue) {
      bytes += consumedBytes(record);
      if (count > 0 && (bytes > this.#options.maxBatchBytes || count === this.#options.maxBatchRecords)) {
        bytes -= consumedBytes(record);
        break;
      }
      count += 1;
    }
    const records = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    this.#queuedBytes -= bytes;
    if (this.#queuedBytes < this.#options.maxBatchBytes / 2 && this.#queue.length < this.#options.maxBatchRecords / 2)
      this.#resume();
    const nextOffset = (records.at(-1) as ConsumedRecord).offset + 1;
    return {
      topic: this.topic,
      partition: this.partition,
      records,
      nextOffset,
      logEnd: Math.max(this.#logEnd, nextOffset),
      groupGeneration: this.session.generation,
      revoked: () => this.#over,
      fence: () => this.#fence(),
    };
  }

  async #fence(): Promise<void> {
    if (!this.#over) await this.session.heartbeat();
    if (this.#over) throw topicErrors.create('TOPIC_PARTITION_REVOKED', { place: `${this.topic}/${this.partition}` });
  }

  /** Undefined when the partition was lost meanwhile. */
  async #handleUntilAccepted(batch: ConsumedBatch): Promise<{ commit: number; metadata: string } | undefined> {
    while (!this.#over) {
      try {
        return await this.#handler.batch(batch);
      } catch (thrown: unknown) {
        if (this.#over) return undefined;
        if (isSluiceError(thrown) && thrown.code === 'TOPIC_PARTITION_REVOKED') {
          this.drain();
          return undefined;
        }
        if (isSluiceError(thrown) && !thrown.retryable) throw thrown;
        this.#events.rejected(thrown);
        await sleep(pauseAfterRejectionMs, undefined, { signal: this.#ended.signal }).catch(() => undefined);
        if (this.#draining) return undefined;
      }
    }
    return undefined;
  }

  async #commit(batch: ConsumedBatch, { commit, metadata }: { commit: number; metadata: string }): Promise<void> {
    if (
      commit > batch.nextOffset ||
      commit < 0 ||
      !Number.isSafeInteger(commit) ||
      Buffer.byteLength(metadata) > maxMetadataBytes
    ) {
      throw topicErrors.create('TOPIC_COMMIT_INVALID', {
        place: `${this.topic}/${this.partition}`,
        got: `offset ${commit} with ${Buffer.byteLength(metadata)} bytes of metadata`,
        allowed: `at most ${batch.nextOffset}, ${maxMetadataBytes} bytes`,
      });
    }
    const done = await this.#retried(async () => {
      await this.session.commit(this.topic, this.partition, commit, metadata);
      return true;
    });
    if (done === true) this.#committedMetadata = metadata;
    else this.drain();
  }

  /** Repeats while the brokers are away. Undefined when the partition was lost. */
  async #retried<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
    for (let pauseMs = firstRetryMs; !this.#over; pauseMs = Math.min(longestRetryMs, pauseMs * 2)) {
      try {
        return await run();
      } catch (thrown: unknown) {
        if (isSluiceError(thrown)) {
          if (thrown.code === 'TOPIC_PARTITION_REVOKED') return undefined;
          if (!thrown.retryable) throw thrown;
        }
        await sleep(pauseMs, undefined, { signal: this.#ended.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async #isFullOrWaited(): Promise<boolean> {
    const waitMs = this.#options.waitForMoreMs ?? 0;
    const isFull = (): boolean =>
      this.#queue.length >= this.#options.maxBatchRecords || this.#queuedBytes >= this.#options.maxBatchBytes;
    const until = performance.now() + waitMs;
    while (!isFull() && !this.#draining && !this.#over) {
      const left = until - performance.now();
      if (left <= 0) break;
      await this.#untilWoken(left);
    }
    return this.#queue.length > 0 && !this.#draining && !this.#over;
  }

  #untilWoken(afterMs?: number): Promise<void> {
    if (this.#over || this.#draining) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = afterMs === undefined ? undefined : setTimeout(() => this.#wake?.(), afterMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#events.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#events.resume();
  }
}
