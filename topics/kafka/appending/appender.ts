/** All appends of a topic log: one `PartitionAppender` per partition, one connection per topic. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { createRateLimit } from '../../../core/log.js';
import { buildMetrics } from '../../../core/metrics.js';
import type { TopicRecord } from '../../contract.js';
import { topicErrors } from '../../errors.js';
import { topicMetrics } from '../../metrics.js';
import type { Codec } from '../records/codecs.js';
import { PartitionAppender } from './partition-appender.js';
import { recordBytes } from '../records/record-batch.js';
import type { KafkaSettings } from '../options.js';
import { TopicConnection } from './topic-connection.js';
import { kafkaEvents } from '../events.js';

/** What a batch holds at the most, uncompressed: the broker's default limit of a message is 1,048,588 bytes. */
const batchBytes = 1_000_000;
/** Largest record of a topic that `ensureTopics` was not asked about. */
const defaultMaxMessageBytes = 1_000_000;
/** An append that waits for longer says that the broker is away. */
const patienceMs = 10_000;
/**
 * Share of the request timeout that the leader waits for other replicas. It must answer before the client asks again.
 */
const brokerShare = 0.8;
const idlePollMs = 10;
const asciiKey = /^[\0-\x7f]{1,255}$/;

interface TopicAppenders {
  readonly connection: TopicConnection;
  readonly partitions: Map<number, PartitionAppender>;
}

export class KafkaAppender {
  readonly #kafka: Kafka;
  readonly #settings: KafkaSettings;
  readonly #codec: Codec | undefined;
  readonly #metrics;
  readonly #allowLog = createRateLimit(6);
  readonly #topics = new Map<string, TopicAppenders>();
  readonly #maxMessageBytes = new Map<string, number>();
  readonly #knownPartitions = new Map<string, number>();
  #stopped = false;

  constructor(kafka: Kafka, settings: KafkaSettings, codec: Codec | undefined) {
    this.#kafka = kafka;
    this.#settings = settings;
    this.#codec = codec;
    this.#metrics = buildMetrics(settings.registry, topicMetrics);
  }

  /** What `ensureTopics` found or made. */
  setTopic(topic: string, partitions: number, maxMessageBytes: number): void {
    this.#maxMessageBytes.set(topic, maxMessageBytes);
    this.#knownPartitions.set(topic, partitions);
  }

  async append(topic: string, partition: number, records: readonly TopicRecord[]): Promise<void> {
    if (this.#stopped) throw topicErrors.create('TOPIC_LOG_STOPPED');
    if (records.length === 0) return;
    const bytes = this.#check(topic, partition, records);
    const endTimer = this.#metrics.appendSeconds.startTimer({ topic });
    await this.#partition(topic, partition).append(records, bytes);
    endTimer();
  }

  /** Whole appends are refused before anything of them is sent. */
  #check(topic: string, partition: number, records: readonly TopicRecord[]): number {
    const largest = this.#maxMessageBytes.get(topic) ?? defaultMaxMessageBytes;
    let bytes = 0;
    for (const record of records) {
      if (!asciiKey.test(record.key))
        throw topicErrors.create('TOPIC_RECORD_INVALID', {
          place: `${topic}/${partition}`,
          got: `key of ${record.key.length} characters`,
        });
      if (record.value.length > largest) {
        throw topicErrors.create('TOPIC_RECORD_TOO_LARGE', {
          place: `${topic}/${partition}`,
          got: `${record.value.length} bytes (${record.key})`,
          allowed: `${largest} bytes (topics.max_message_bytes)`,
        });
      }
      bytes += recordBytes(record);
    }
    return bytes;
  }

  #partition(topic: string, partition: number): PartitionAppender {
    let appenders = this.#topics.get(topic);
    if (appenders === undefined) {
      appenders = { connection: new TopicConnection(this.#kafka, topic), partitions: new Map() };
      this.#topics.set(topic, appenders);
    }
    let appender = appenders.partitions.get(partition);
    if (appender === undefined) {
      appender = this.#createPartition(topic, partition, appenders.connection);
      appenders.partitions.set(partition, appender);
    }
    return appender;
  }

  #createPartition(topic: string, partition: number, connection: TopicConnection): PartitionAppender {
    const metrics = this.#metrics;
    return new PartitionAppender(
      {
        topic,
        partition,
        codec: this.#codec,
        timeoutMs: Math.ceil(this.#settings.requestTimeoutMs * brokerShare),
        batchBytes: () => Math.min(batchBytes, this.#maxMessageBytes.get(topic) ?? batchBytes),
        isKnown: () => partition < (this.#knownPartitions.get(topic) ?? 0),
        onAppended: (records, bytes) => {
          metrics.recordsAppended.inc({ topic }, records);
          metrics.bytesAppended.inc({ topic }, bytes);
        },
        onFailed: (reason) => {
          metrics.appendsRefused.inc({ topic, reason: 'broker' });
          const { allowed, suppressed } = this.#allowLog(topic);
          if (allowed) kafkaEvents.appendDelayed(this.#settings.log, { topic, partition, reason, suppressed });
        },
        onResent: (records) => metrics.recordsResent.inc({ topic }, records),
      },
      {
        newProducer: () => connection.newProducer(),
        send: (request) => connection.send(partition, request),
        recover: (failure, attempts) => connection.recover(failure, attempts),
      },
    );
  }

  writable(): { readonly ok: boolean; readonly reason: string } {
    const now = performance.now();
    for (const [topic, { partitions }] of this.#topics) {
      for (const [partition, appender] of partitions) {
        const oldest = appender.oldest();
        if (oldest === undefined || now - oldest.since < patienceMs) continue;
        const seconds = Math.round((now - oldest.since) / 1000);
        return {
          ok: false,
          reason: `an append to ${topic}/${partition} waits since ${seconds} s${oldest.lastFailure === undefined ? '' : `: ${oldest.lastFailure}`}`,
        };
      }
    }
    return { ok: true, reason: '' };
  }

  /** Bytes that wait, by topic. */
  waitingBytes(): ReadonlyMap<string, number> {
    const waiting = new Map<string, number>();
    for (const [topic, { partitions }] of this.#topics)
      waiting.set(
        topic,
        [...partitions.values()].reduce((sum, { waitingBytes }) => sum + waitingBytes, 0),
      );
    return waiting;
  }

  async stop(deadlineMs: number): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const all = [...this.#topics.values()].flatMap(({ partitions }) => [...partitions.values()]);
    const deadline = performance.now() + deadlineMs;
    while (all.some((appender) => !appender.idle) && performance.now() < deadline) await sleep(idlePollMs);
    for (const appender of all) appender.abandon();
    await Promise.race([
      Promise.all([...this.#topics.values()].map(({ connection }) => connection.close())),
      sleep(1_000, undefined, { ref: false }),
    ]);
  }
}
