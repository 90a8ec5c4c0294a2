/** A consumer of one group: it owns all partitions of its topics, and reads each with a loop of its own. */
import { withinDeadline } from '../../core/time/deadline.js';
import { errorText, isSluiceError, toError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { createSemaphore, type Semaphore } from '../../core/semaphore.js';
import type { ConsumedBatch, ConsumedRecord, ConsumeHandler, ConsumeOptions, Consumer } from '../contract.js';
import { topicErrors } from '../errors.js';
import type { GroupOffsets } from './group-offsets.js';
import type { Partition } from './partition.js';
import { emptyBatch, PartitionReader, type BatchInProgress } from './partition-reader.js';
import { embeddedEvents } from './events.js';

const firstPauseMs = 100;
const longestPauseMs = 5000;
const maxMetadataBytes = 4000;

interface ConsumerParts {
  readonly options: ConsumeOptions;
  readonly handler: ConsumeHandler;
  readonly offsets: GroupOffsets;
  readonly groupGeneration: number;
  readonly log: Log;
  readonly onGap: (topic: string, partition: number, from: number, to: number) => void;
  readonly onHandled: (partition: Partition, records: number) => void;
  readonly onRedelivered: (topic: string) => void;
  /** The consumer has ended, by stop or failure. */
  readonly onEnd: () => void;
}

interface OwnedPartition {
  readonly partition: Partition;
  readonly generation: number;
}

export class EmbeddedConsumer implements Consumer {
  readonly finished: Promise<void>;
  readonly #parts: ConsumerParts;
  readonly #loops = new Map<Partition, Promise<void>>();
  readonly #readers = new Set<PartitionReader>();
  readonly #wakers = new Set<() => void>();
  readonly #handlers: Semaphore;
  #stopping = false;
  #revoked = false;
  #failure: Error | undefined;
  #ended: Promise<void> | undefined;
  #settle: (failure: Error | undefined) => void = () => {};

  constructor(parts: ConsumerParts) {
    this.#parts = parts;
    this.#handlers = createSemaphore(Math.max(1, parts.options.concurrency));
    this.finished = new Promise((resolve, reject) => {
      this.#settle = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    this.finished.catch(() => {});
  }

  /** Takes a partition over. */
  add(owned: OwnedPartition): void {
    if (this.#stopping) return;
    this.#loops.set(
      owned.partition,
      this.#run(owned).catch((thrown: unknown) => this.#fail(toError(thrown))),
    );
  }

  assigned(): readonly string[] {
    return [...this.#loops.keys()].map(({ topic, partition }) => `${topic}/${partition}`);
  }

  stop(deadlineMs: number): Promise<void> {
    this.#ended ??= this.#end(deadlineMs);
    return this.#ended;
  }

  async commit(topic: string, partition: number, offset: number, metadata: string): Promise<void> {
    const known = this.#parts.offsets.get(topic, partition);
    if (this.#revoked || known === undefined)
      throw topicErrors.create('TOPIC_PARTITION_REVOKED', { place: `${topic}/${partition}` });
    this.#parts.offsets.set({ ...known, offset, metadata });
  }

  async #end(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    for (const wake of [...this.#wakers]) wake();
    await withinDeadline(Promise.all(this.#loops.values()), deadlineMs);
    this.#revoked = true;
    // Those of handlers that did not end in time are still open.
    await Promise.all([...this.#readers].map((reader) => this.#close(reader)));
    await this.#parts.offsets.flush().catch((thrown: unknown) => {
      embeddedEvents.offsetsLostAtStop(this.#parts.log, { group: this.#parts.options.group }, errorText(thrown));
    });
    for (const partition of this.#loops.keys()) this.#revoke(partition);
    this.#parts.onEnd();
    this.#settle(this.#failure);
  }

  #revoke({ topic, partition }: Partition): void {
    try {
      this.#parts.handler.revoked(topic, partition);
    } catch (thrown) {
      embeddedEvents.revocationFailed(this.#parts.log, { topic, partition }, errorText(thrown));
    }
  }

  /** The first failure ends the whole consumer. */
  #fail(failure: Error): void {
    this.#failure ??= failure;
    void this.stop(longestPauseMs);
  }

  async #run(owned: OwnedPartition): Promise<void> {
    const { partition } = owned;
    const { handler } = this.#parts;
    const position = await this.#assign(owned);
    let reader = this.#createReader(partition, position);
    try {
      while (!this.#stopping) {
        let batch: BatchInProgress;
        const from = reader.offset;
        try {
          batch = await this.#nextBatch(reader, partition);
        } catch (thrown) {
          embeddedEvents.topicUnread(
            this.#parts.log,
            { topic: partition.topic, partition: partition.partition },
            errorText(thrown),
          );
          await this.#close(reader);
          reader = this.#createReader(partition, from);
          await this.#wait(undefined, longestPauseMs);
          continue;
        }
        if (batch.records.length === 0 || this.#stopping) continue;
        const consumed = this.#describe(partition, batch.records, reader.offset);
        const result = await this.#insist(partition.topic, () =>
          this.#handlers.run(() => (this.#stopping ? Promise.resolve(undefined) : handler.batch(consumed))),
        );
        if (result === undefined || this.#revoked) return;
        this.#commit(owned, consumed, result);
      }
    } finally {
      await this.#close(reader);
    }
  }

  #createReader(partition: Partition, position: number): PartitionReader {
    const { topic, partition: number } = partition;
    const reader = new PartitionReader(partition.files, position, (from, to) =>
      this.#parts.onGap(topic, number, from, to),
    );
    this.#readers.add(reader);
    return reader;
  }

  async #close(reader: PartitionReader): Promise<void> {
    this.#readers.delete(reader);
    await reader.close().catch(() => {});
  }

  async #assign({ partition, generation }: OwnedPartition): Promise<number> {
    const { handler, offsets, groupGeneration } = this.#parts;
    const { topic, partition: number, files } = partition;
    const entry = offsets.get(topic, number);
    const known = entry?.generation === generation ? entry : undefined;
    const committed =
      known === undefined || known.metadata === null ? undefined : { offset: known.offset, metadata: known.metadata };
    const position = committed?.offset ?? files.earliest;
    if (committed === undefined)
      offsets.set({ topic, generation, partition: number, offset: position, metadata: null });
    const assignment = {
      topic,
      partition: number,
      groupGeneration,
      position,
      committed,
      earliest: files.earliest,
      logEnd: files.logEnd,
      fence: () => this.#fence(topic, number),
    };
    await this.#insist(topic, () => (this.#stopping ? Promise.resolve() : handler.assigned(assignment)));
    return position;
  }

  /** Calls until it resolves; undefined when the consumer stops before. Permanent errors pass through. */
  async #insist<Result>(topic: string, call: () => Promise<Result>): Promise<Result | undefined> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await call();
      } catch (thrown) {
        if (isSluiceError(thrown) && !thrown.retryable) throw thrown;
        if (this.#stopping) return undefined;
        this.#parts.onRedelivered(topic);
        embeddedEvents.batchRepeated(
          this.#parts.log,
          { group: this.#parts.options.group, topic, pause_ms: pauseMs },
          errorText(thrown),
        );
        await this.#wait(undefined, pauseMs);
        if (this.#stopping) return undefined;
      }
    }
  }

  async #nextBatch(reader: PartitionReader, partition: Partition): Promise<BatchInProgress> {
    const { maxBatchBytes, maxBatchRecords, waitForMoreMs = 0 } = this.#parts.options;
    const batch = emptyBatch();
    await reader.fill(batch, maxBatchRecords, maxBatchBytes);
    while (batch.records.length === 0 && !this.#stopping) {
      await this.#wait(partition, undefined, reader.offset);
      await reader.fill(batch, maxBatchRecords, maxBatchBytes);
    }
    const until = performance.now() + waitForMoreMs;
    for (let left = waitForMoreMs; !batch.full && left > 0 && !this.#stopping; left = until - performance.now()) {
      await this.#wait(partition, left, reader.offset);
      await reader.fill(batch, maxBatchRecords, maxBatchBytes);
    }
    return batch;
  }

  #describe(
    { topic, partition, files }: Partition,
    records: readonly ConsumedRecord[],
    nextOffset: number,
  ): ConsumedBatch {
    return {
      topic,
      partition,
      records,
      nextOffset,
      logEnd: files.logEnd,
      groupGeneration: this.#parts.groupGeneration,
      revoked: () => this.#revoked,
      fence: () => this.#fence(topic, partition),
    };
  }

  async #fence(topic: string, partition: number): Promise<void> {
    if (this.#revoked) throw topicErrors.create('TOPIC_PARTITION_REVOKED', { place: `${topic}/${partition}` });
  }

  #commit(
    { partition, generation }: OwnedPartition,
    batch: ConsumedBatch,
    { commit, metadata }: { readonly commit: number; readonly metadata: string },
  ): void {
    const { topic, partition: number } = partition;
    if (
      !Number.isSafeInteger(commit) ||
      commit < 0 ||
      commit > batch.nextOffset ||
      Buffer.byteLength(metadata) > maxMetadataBytes
    ) {
      throw topicErrors.create('TOPIC_COMMIT_INVALID', {
        place: `${topic}/${number}`,
        got: `offset ${commit}, ${Buffer.byteLength(metadata)} bytes of metadata`,
        allowed: `at most offset ${batch.nextOffset} and ${maxMetadataBytes} bytes`,
      });
    }
    this.#parts.offsets.set({ topic, generation, partition: number, offset: commit, metadata });
    this.#parts.onHandled(partition, batch.records.length);
  }

  /** Until the stop, until the partition has records at the offset, or for some time. */
  #wait(partition: Partition | undefined, milliseconds: number | undefined, offset = 0): Promise<void> {
    if (this.#stopping || (partition !== undefined && partition.files.logEnd > offset)) return Promise.resolve();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let forget: () => void = () => {};
      const done = () => {
        clearTimeout(timer);
        forget();
        this.#wakers.delete(done);
        resolve();
      };
      this.#wakers.add(done);
      if (milliseconds !== undefined) timer = setTimeout(done, milliseconds);
      if (partition !== undefined) forget = partition.onceAppended(done);
    });
  }
}
