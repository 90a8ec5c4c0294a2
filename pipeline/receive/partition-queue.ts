/**
 * Batches on their way into one partition of a topic: one append at a time; while it is under way the next one gathers.
 * Ids are minted when an append is formed, so that a run's sequence in this partition has no gaps.
 */
import { at } from '../../core/at.js';
import type { TopicLog, TopicRecord } from '../../topics/contract.js';
import { idPrefix, mintId } from '../../core/message-ids.js';

interface QueuedBatch {
  readonly values: readonly Buffer[];
  /** `origins[i]` belongs to `values[i]`; one string when all share it. */
  readonly origins: string | readonly string[];
  readonly receivedAt: number;
  readonly bytes: number;
  readonly receiver: string;
  /** Somebody waits for the outcome. */
  readonly answered: boolean;
  readonly settled: (error: Error | undefined) => void;
}

interface PartitionQueueOptions {
  readonly topics: TopicLog;
  readonly topic: string;
  readonly partition: number;
  /**
   * What stands for the partition in the ids, where another topic has a partition of the same number; default: the
   * partition.
   */
  readonly idPartition?: number;
  readonly run: string;
  readonly batchBytes: number;
  /** Longest time until an append that somebody waits for is sent. */
  readonly lingerMs: number;
  /** The same where nobody waits. */
  readonly unansweredLingerMs: number;
  /** Records of one append. kafkajs encodes each on its own: more make one long turn of the event loop. */
  readonly maxRecords: number;
}

export class PartitionQueue {
  readonly #options: PartitionQueueOptions;
  readonly #prefix: string;
  #sequence = 0;
  #queue: QueuedBatch[] = [];
  #queuedBytes = 0;
  #sending = false;
  /** Of those that are queued. */
  #answered = false;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;

  constructor(options: PartitionQueueOptions) {
    this.#options = options;
    this.#prefix = idPrefix(options.run, options.idPartition ?? options.partition);
  }

  push(batch: QueuedBatch): void {
    this.#queue.push(batch);
    this.#queuedBytes += batch.bytes;
    this.#answered ||= batch.answered;
    if (!this.#sending) this.#schedule();
  }

  #schedule(): void {
    const { batchBytes, lingerMs, unansweredLingerMs } = this.#options;
    const wait = this.#answered ? lingerMs : unansweredLingerMs;
    if (this.#queuedBytes >= batchBytes || wait === 0) return this.#send();
    if (this.#timer !== undefined && this.#timerMs <= wait) return;
    clearTimeout(this.#timer);
    this.#timerMs = wait;
    this.#timer = setTimeout(() => this.#send(), wait);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending || this.#queue.length === 0) return;
    const taken = this.#take();
    const records = this.#mint(taken);
    this.#sending = true;
    this.#options.topics.append(this.#options.topic, this.#options.partition, records).then(
      () => this.#settle(taken, undefined),
      (error: unknown) => this.#settle(taken, error instanceof Error ? error : new Error(String(error))),
    );
  }

  #take(): readonly QueuedBatch[] {
    const taken: QueuedBatch[] = [];
    let bytes = 0;
    let records = 0;
    for (const batch of this.#queue) {
      if (
        taken.length > 0 &&
        (bytes + batch.bytes > this.#options.batchBytes || records + batch.values.length > this.#options.maxRecords)
      )
        break;
      taken.push(batch);
      bytes += batch.bytes;
      records += batch.values.length;
    }
    this.#queue = taken.length === this.#queue.length ? [] : this.#queue.slice(taken.length);
    this.#queuedBytes -= bytes;
    this.#answered = this.#queue.some(({ answered }) => answered);
    return taken;
  }

  #mint(taken: readonly QueuedBatch[]): TopicRecord[] {
    const records: TopicRecord[] = [];
    for (const { values, origins, receivedAt } of taken) {
      for (let place = 0; place < values.length; place += 1) {
        records.push({
          key: mintId(this.#prefix, this.#sequence),
          value: at(values, place),
          timestamp: receivedAt,
          origin: typeof origins === 'string' ? origins : at(origins, place),
        });
        this.#sequence += 1;
      }
    }
    return records;
  }

  #settle(taken: readonly QueuedBatch[], error: Error | undefined): void {
    this.#sending = false;
    for (const batch of taken) batch.settled(error);
    if (this.#queue.length > 0) this.#schedule();
  }
}
