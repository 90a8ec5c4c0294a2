/** The topic log on Kafka: joins what appends, consumes, reads and keeps topics. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { errorText } from '../../core/errors.js';
import { buildMetrics } from '../../core/metrics.js';
import type {
  ConsumedRecord,
  Consumer,
  ConsumeHandler,
  ConsumeOptions,
  PartitionState,
  TopicLog,
  TopicLogCapabilities,
  TopicRecord,
  TopicSpec,
} from '../contract.js';
import { topicErrors } from '../errors.js';
import { KafkaAppender } from './appending/appender.js';
import { createClient, errorType } from './client/client.js';
import { codecByAttribute, loadCodecs } from './records/codecs.js';
import { GroupConsumer } from './consuming/group-consumer.js';
import { kafkaCapabilities, type KafkaSettings } from './options.js';
import { readPartition } from './reader.js';
import { topicGeneration } from './client/topic-id.js';
import { committedOffsets, deleteRecords, ensureTopics, partitionStates, withAdmin } from './topics.js';
import { topicMetrics } from '../metrics.js';
import { kafkaEvents } from './events.js';

const startPauseMs = 500;
const permanentErrors = new Set([
  'CLUSTER_AUTHORIZATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'KafkaJSSASLAuthenticationError',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_CONFIG',
  'POLICY_VIOLATION',
  'INVALID_PARTITIONS',
]);

export class KafkaTopicLog implements TopicLog {
  readonly #settings: KafkaSettings;
  readonly #consumers = new Set<GroupConsumer>();
  #running: { readonly kafka: Kafka; readonly appender: KafkaAppender } | undefined;
  readonly #generations = new Map<string, Promise<number>>();
  #reading: Promise<Kafka> | undefined;
  #stopped = false;

  constructor(settings: KafkaSettings) {
    this.#settings = settings;
  }

  capabilities(): TopicLogCapabilities {
    return kafkaCapabilities;
  }

  /** Waits for the first broker to answer, for `startPatienceMs`. */
  async start(): Promise<void> {
    const codecs = await loadCodecs();
    const kafka = createClient(this.#settings);
    await this.#awaitBrokers(kafka);
    const appender = new KafkaAppender(kafka, this.#settings, codecs.get(this.#settings.compression));
    const { waitingBytes } = buildMetrics(this.#settings.registry, topicMetrics);
    Object.assign(waitingBytes, {
      collect: () => {
        for (const [topic, bytes] of appender.waitingBytes()) waitingBytes.set({ topic }, bytes);
      },
    });
    this.#running = { kafka, appender };
  }

  async #awaitBrokers(kafka: Kafka): Promise<void> {
    const place = this.#settings.brokers.join(', ');
    await this.#patiently('Kafka does not answer yet; trying again', () =>
      withAdmin(kafka, (admin) => admin.describeCluster()),
    ).catch((thrown: unknown) => {
      throw topicErrors.create('TOPIC_BROKERS_UNREACHABLE', {
        place,
        got: errorText(thrown),
        allowed: 'topics.kafka.brokers, tls and sasl as the brokers listen',
        cause: thrown,
      });
    });
  }

  /**
   * Brokers that start together with us refuse much for some seconds: too few replicas, no controller, no coordinator.
   */
  async #patiently<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + this.#settings.startPatienceMs;
    for (;;) {
      try {
        return await run();
      } catch (thrown: unknown) {
        if (performance.now() >= until || this.#stopped || permanentErrors.has(errorType(thrown))) throw thrown;
        kafkaEvents.startRetried(
          this.#settings.log,
          { brokers: this.#settings.brokers, error: errorText(thrown), type: errorType(thrown) },
          what,
        );
        await sleep(startPauseMs);
      }
    }
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true;
    const running = this.#running;
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop(deadlineMs)));
    this.#consumers.clear();
    await running?.appender.stop(deadlineMs);
  }

  async ensureTopics(specs: readonly TopicSpec[]): Promise<readonly string[]> {
    const { kafka, appender } = this.#started();
    const { warnings, topics } = await this.#patiently(
      'the topics cannot be created or checked yet; trying again',
      () => ensureTopics(kafka, specs, this.#settings.replication, this.#settings.log),
    );
    for (const spec of specs) {
      const found = topics.get(spec.name);
      if (found !== undefined)
        appender.setTopic(spec.name, found.partitions, Math.min(spec.maxMessageBytes, found.maxMessageBytes));
    }
    return warnings;
  }

  async append(topic: string, partition: number, records: readonly TopicRecord[]): Promise<void> {
    await this.#started().appender.append(topic, partition, records);
  }

  writable(): { readonly ok: boolean; readonly reason: string } {
    if (this.#running === undefined || this.#stopped) return { ok: false, reason: 'the topic log does not run' };
    return this.#running.appender.writable();
  }

  async consume(options: ConsumeOptions, handler: ConsumeHandler): Promise<Consumer> {
    const consumer = new GroupConsumer(
      { kafka: this.#started().kafka, settings: this.#settings, codecOf: codecByAttribute(await loadCodecs()) },
      options,
      handler,
    );
    await consumer.start();
    this.#consumers.add(consumer);
    const forget = (): boolean => this.#consumers.delete(consumer);
    consumer.finished.then(forget, forget);
    return consumer;
  }

  async read(
    topic: string,
    partition: number,
    fromOffset: number,
    onRecords: (records: readonly ConsumedRecord[]) => void | Promise<void>,
  ): Promise<void> {
    await readPartition(await this.#client(), codecByAttribute(await loadCodecs()), {
      topic,
      partition,
      fromOffset,
      onRecords,
    });
  }

  async partitions(topic: string): Promise<readonly PartitionState[]> {
    return partitionStates(await this.#client(), topic);
  }

  async trim(topic: string, partition: number, before: number): Promise<void> {
    await deleteRecords(await this.#client(), topic, partition, before);
  }

  async committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    return committedOffsets(await this.#client(), group, topic);
  }

  /** All partitions of an assignment ask at the same moment. */
  async generation(topic: string): Promise<number> {
    const asked =
      this.#generations.get(topic) ??
      this.#client()
        .then((kafka) => topicGeneration(kafka, topic))
        .finally(() => this.#generations.delete(topic));
    this.#generations.set(topic, asked);
    return asked;
  }

  /** Reading needs no start. */
  async #client(): Promise<Kafka> {
    if (this.#running !== undefined) return this.#running.kafka;
    this.#reading ??= loadCodecs().then(() => createClient(this.#settings));
    return this.#reading;
  }

  #started(): { readonly kafka: Kafka; readonly appender: KafkaAppender } {
    if (this.#stopped) throw topicErrors.create('TOPIC_LOG_STOPPED');
    if (this.#running === undefined) throw topicErrors.create('TOPIC_LOG_NOT_STARTED');
    return this.#running;
  }
}
