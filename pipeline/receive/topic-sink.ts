/** From the receivers to the topics: what is decoded goes to `logs`, what is not to `dead-letters`; both are bounded in bytes. */
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { Log } from '../../core/log.js';
import { noteTraffic } from '../../core/process/young-generation.js';
import type { MessageBatch, MessageSink, Refusal } from '../../schemas/messages.js';
import { maxRawBytes, refusalDeadLetter } from '../dead-letter.js';
import { pipelineErrors } from '../errors.js';
import { pipelineMetrics } from '../metrics.js';
import { PartitionQueue } from './partition-queue.js';
import type { TopicLog } from '../../topics/contract.js';

export interface ReceiveOptions {
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

/** Dead letters wait for their topic within a quarter of the bound of the messages, so that garbage cannot displace them. */
const refusalShare = 4;
/** Bytes that a record takes beside its value (key, header, lengths). */
const recordOverhead = 256;
const maxAppendRecords = 10_000;
/** Stands for the partition in the ids of refused input: an id of a message must not be one of these, or the replay of the one would be taken for the other. */
const refusalIdPartition = 0xffff;

export interface Receive extends MessageSink {
  /** Resolves when nothing waits for the topic, or at the deadline; takes nothing more from the call on. */
  stop(deadlineMs: number): Promise<void>;
  waitingBytes(): number;
}

export function createReceive(options: ReceiveOptions): Receive {
  const metrics = buildMetrics(options.registry, pipelineMetrics);
  const queue = (topic: string, partition: number, idPartition: number): PartitionQueue =>
    new PartitionQueue({ ...options, topic, partition, idPartition, maxRecords: maxAppendRecords });
  const logs = Array.from({ length: options.partitions }, (_, partition) =>
    queue(options.logsTopic, partition, partition),
  );
  const deadLetters = queue(options.deadLettersTopic, 0, refusalIdPartition);
  let waiting = 0;
  let refusalBytes = 0;
  let spread = 0;
  let stopped = false;
  let idle: (() => void) | undefined;
  const settleIdle = (): void => {
    if (waiting === 0 && refusalBytes === 0) idle?.();
  };

  const push = (batch: MessageBatch): Promise<void> => {
    if (stopped) return Promise.reject(pipelineErrors.create('PIPELINE_STOPPED'));
    if (batch.values.length === 0) return Promise.resolve();
    const partition = batch.lane === undefined ? (spread = (spread + 1) % logs.length) : batch.lane % logs.length;
    const { receiver, receivedAt, values, answered = false } = batch;
    const origins =
      typeof batch.peers === 'string' ? `${receiver} ${batch.peers}` : batch.peers.map((peer) => `${receiver} ${peer}`);
    const count = values.length;
    waiting += batch.bytes;
    metrics.waitingBytes.set(waiting);
    metrics.waiting.inc({ receiver }, count);
    noteTraffic(count);
    return new Promise((resolve, reject) => {
      const settled = (error: Error | undefined): void => {
        waiting -= batch.bytes;
        metrics.waitingBytes.set(waiting);
        metrics.waiting.dec({ receiver }, count);
        if (error === undefined) {
          metrics.appended.inc({ receiver }, count);
          metrics.appendSeconds.observe((Date.now() - receivedAt) / 1000);
          resolve();
        } else reject(error);
        settleIdle();
      };
      logs[partition]?.push({ values, origins, receivedAt, bytes: batch.bytes, receiver, answered, settled });
    });
  };

  const refuse = (refusals: readonly Refusal[]): Promise<void> => {
    if (stopped) return Promise.reject(pipelineErrors.create('PIPELINE_STOPPED'));
    const kept = refusals.filter((refusal) => {
      const fits = refusalBytes < options.maxWaitingBytes / refusalShare;
      if (!fits) metrics.refusalsShed.inc({ receiver: refusal.receiver });
      return fits;
    });
    const first = kept[0];
    if (first === undefined) return Promise.resolve();
    const values = kept.map((refusal) => Buffer.from(JSON.stringify(refusalDeadLetter(refusal))));
    const origins = kept.map((refusal) => `${refusal.receiver} ${refusal.peer}`);
    const bytes = values.reduce((sum, value) => sum + value.length, 0);
    refusalBytes += bytes;
    return new Promise((resolve, reject) => {
      const settled = (error: Error | undefined): void => {
        refusalBytes -= bytes;
        if (error === undefined) {
          metrics.refusalsAppended.inc({ receiver: first.receiver }, kept.length);
          resolve();
        } else reject(error);
        settleIdle();
      };
      deadLetters.push({
        values,
        origins,
        receivedAt: first.receivedAt,
        bytes,
        receiver: first.receiver,
        answered: true,
        settled,
      });
    });
  };

  return {
    push: (batch) =>
      batch.values.some((value) => value.length > options.maxMessageBytes - recordOverhead)
        ? pushFitting(batch, options, push, refuse)
        : push(batch),
    refuse,
    full: () => stopped || waiting >= options.maxWaitingBytes,
    waitingBytes: () => waiting,
    async stop(deadlineMs) {
      stopped = true;
      if (waiting === 0 && refusalBytes === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((resolve) => {
          idle = resolve;
        }),
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, deadlineMs);
        }),
      ]);
      clearTimeout(timer);
      if (waiting > 0)
        options.log.error({ waiting_bytes: waiting }, 'stopped before all received messages were durable');
    },
  };
}

/** The rare batch with a message that no topic record can hold: that message becomes a dead letter. */
async function pushFitting(
  batch: MessageBatch,
  options: ReceiveOptions,
  push: Receive['push'],
  refuse: Receive['refuse'],
): Promise<void> {
  const fits = (value: Buffer): boolean => value.length <= options.maxMessageBytes - recordOverhead;
  const peerOf = (place: number): string =>
    typeof batch.peers === 'string' ? batch.peers : (batch.peers[place] as string);
  const values = batch.values.filter(fits);
  const peers =
    typeof batch.peers === 'string'
      ? batch.peers
      : batch.peers.filter((_, place) => fits(batch.values[place] as Buffer));
  const refusals = batch.values.flatMap((value, place): Refusal[] => {
    if (fits(value)) return [];
    const error = pipelineErrors.create('PIPELINE_MESSAGE_TOO_LARGE', {
      got: `${value.length} bytes`,
      allowed: `${options.maxMessageBytes - recordOverhead} bytes`,
    });
    const { receiver, receivedAt } = batch;
    return [
      {
        receiver,
        receivedAt,
        peer: peerOf(place),
        code: error.code,
        reason: error.message,
        raw: value.subarray(0, maxRawBytes),
        rawLength: value.length,
      },
    ];
  });
  await Promise.all([
    push({ ...batch, values, peers, bytes: values.reduce((sum, value) => sum + value.length, 0) }),
    refuse(refusals),
  ]);
}
