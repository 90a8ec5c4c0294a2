/**
 * From the receivers to the topics: what is acceptable goes to `logs`, what is not to `dead-letters`. Both are bounded
 * in bytes.
 */
import { at } from '../../core/at.js';
import { withinDeadline } from '../../core/time/deadline.js';
import type { Log } from '../../core/log.js';
import { buildMetrics, type BuiltMetrics, type Registry } from '../../core/metrics.js';
import { noteTraffic } from '../../core/process/young-generation.js';
import type { MessageBatch, MessageSink, Refusal } from '../../schemas/messages.js';
import type { TopicLog } from '../../topics/contract.js';
import { refusalDeadLetter } from '../dead-letter.js';
import { pipelineErrors } from '../errors.js';
import { pipelineMetrics } from '../metrics.js';
import { originText } from '../origin.js';
import { PartitionQueue } from './partition-queue.js';
import { splitTooLarge } from './too-large.js';
import { pipelineEvents } from '../events.js';

export interface TopicSinkOptions {
  readonly topics: TopicLog;
  readonly logsTopic: string;
  readonly deadLettersTopic: string;
  readonly partitions: number;
  readonly run: string;
  readonly batchBytes: number;
  readonly lingerMs: number;
  readonly unansweredLingerMs: number;
  readonly maxWaitingBytes: number;
  readonly maxMessageBytes: number;
  readonly registry: Registry;
  readonly log: Log;
}

/**
 * Dead letters wait for their topic within a quarter of the bound of the messages, so that garbage cannot displace
 * them.
 */
const refusalShare = 4;
/** Bytes that a record takes beside its value (key, header, lengths). */
const recordOverhead = 256;
const maxAppendRecords = 10_000;
/**
 * Stands for the partition in the ids of refused input. It must not be that of a message: the replay of one would be
 * taken for the other.
 */
const refusalIdPartition = 0xffff;

export class TopicSink implements MessageSink {
  readonly #options: TopicSinkOptions;
  readonly #metrics: BuiltMetrics<typeof pipelineMetrics>;
  readonly #logs: readonly PartitionQueue[];
  readonly #deadLetters: PartitionQueue;
  #messageBytes = 0;
  #refusalBytes = 0;
  /** Partition that took the last batch without an order to keep. */
  #spread = 0;
  #stopped = false;
  #onIdle: (() => void) | undefined;

  constructor(options: TopicSinkOptions) {
    this.#options = options;
    this.#metrics = buildMetrics(options.registry, pipelineMetrics);
    const queueOf = (topic: string, partition: number, idPartition: number): PartitionQueue =>
      new PartitionQueue({ ...options, topic, partition, idPartition, maxRecords: maxAppendRecords });
    this.#logs = Array.from({ length: options.partitions }, (_, at) => queueOf(options.logsTopic, at, at));
    this.#deadLetters = queueOf(options.deadLettersTopic, 0, refusalIdPartition);
  }

  async push(batch: MessageBatch): Promise<void> {
    const most = this.#options.maxMessageBytes - recordOverhead;
    if (batch.values.every((value) => value.length <= most)) return this.#append(batch);
    const { fitting, refusals } = splitTooLarge(batch, most);
    await Promise.all([this.#append(fitting), this.refuse(refusals)]);
  }

  refuse(refusals: readonly Refusal[]): Promise<void> {
    if (this.#stopped) return Promise.reject(pipelineErrors.create('PIPELINE_STOPPED'));
    const taken = refusals.filter((refusal) => {
      const fits = this.#refusalBytes < this.#options.maxWaitingBytes / refusalShare;
      if (!fits) this.#metrics.refusalsShed.inc({ receiver: refusal.receiver });
      return fits;
    });
    const first = taken[0];
    if (first === undefined) return Promise.resolve();
    const { receiver, receivedAt } = first;
    const values = taken.map((refusal) => Buffer.from(JSON.stringify(refusalDeadLetter(refusal))));
    const origins = taken.map(originText);
    const bytes = values.reduce((sum, value) => sum + value.length, 0);
    this.#refusalBytes += bytes;
    return new Promise((resolve, reject) => {
      const settled = (error: Error | undefined): void => {
        this.#refusalBytes -= bytes;
        if (error === undefined) {
          this.#metrics.refusalsAppended.inc({ receiver }, taken.length);
          resolve();
        } else reject(error);
        this.#settleIdle();
      };
      this.#deadLetters.push({ values, origins, receivedAt, bytes, receiver, answered: true, settled });
    });
  }

  full(): boolean {
    return this.#stopped || this.#messageBytes >= this.#options.maxWaitingBytes;
  }

  waitingBytes(): number {
    return this.#messageBytes;
  }

  /** Resolves when nothing waits for the topic, or at the deadline; takes nothing more from the call on. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true;
    if (this.#isIdle()) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    await withinDeadline(idle, deadlineMs);
    if (this.#messageBytes > 0)
      pipelineEvents.receivedMessagesLost(this.#options.log, { waiting_bytes: this.#messageBytes });
  }

  #append(batch: MessageBatch): Promise<void> {
    if (this.#stopped) return Promise.reject(pipelineErrors.create('PIPELINE_STOPPED'));
    if (batch.values.length === 0) return Promise.resolve();
    const { receiver, receivedAt, values, peers, bytes, answered = false } = batch;
    const origins =
      typeof peers === 'string'
        ? originText({ receiver, peer: peers })
        : peers.map((peer) => originText({ receiver, peer }));
    this.#count(receiver, bytes, values.length);
    noteTraffic(values.length);
    return new Promise((resolve, reject) => {
      const settled = (error: Error | undefined): void => {
        this.#count(receiver, -bytes, -values.length);
        if (error === undefined) {
          this.#metrics.appended.inc({ receiver }, values.length);
          this.#metrics.appendSeconds.observe((Date.now() - receivedAt) / 1000);
          resolve();
        } else reject(error);
        this.#settleIdle();
      };
      this.#queueOf(batch).push({ values, origins, receivedAt, bytes, receiver, answered, settled });
    });
  }

  /** Messages that keep their order share a partition; the others go round. */
  #queueOf({ lane }: MessageBatch): PartitionQueue {
    if (lane === undefined) this.#spread = (this.#spread + 1) % this.#logs.length;
    return at(this.#logs, lane === undefined ? this.#spread : lane % this.#logs.length);
  }

  #count(receiver: string, bytes: number, messages: number): void {
    this.#messageBytes += bytes;
    this.#metrics.waitingBytes.set(this.#messageBytes);
    this.#metrics.waiting.inc({ receiver }, messages);
  }

  #isIdle(): boolean {
    return this.#messageBytes === 0 && this.#refusalBytes === 0;
  }

  #settleIdle(): void {
    if (this.#isIdle()) this.#onIdle?.();
  }
}
