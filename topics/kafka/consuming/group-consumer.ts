/**
 * A consumer of a group: kafkajs joins and fetches, `PartitionConsumer`s handle and commit. A consumer that crashes is
 * made anew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Consumer as KafkajsConsumer,
  ConsumerCrashEvent,
  ConsumerGroupJoinEvent,
  EachBatchPayload,
  Kafka,
} from 'kafkajs';
import { errorText, isSluiceError } from '../../../core/errors.js';
import { buildMetrics } from '../../../core/metrics.js';
import { createSemaphore, type Semaphore } from '../../../core/semaphore.js';
import type { Consumer, ConsumeHandler, ConsumeOptions } from '../../contract.js';
import { topicErrors } from '../../errors.js';
import { topicMetrics } from '../../metrics.js';
import { causesOf, errorType } from '../client/client.js';
import type { CodecByAttribute } from '../records/decode-records.js';
import { createGroupOffsets, type GroupOffsets } from './group-offsets.js';
import { observingAssigner, type GroupSession, type PartitionOffsets } from './group-session.js';
import { createMembership, type Membership } from './membership.js';
import type { KafkaSettings } from '../options.js';
import { PartitionConsumer } from './partition-consumer.js';
import { fetchedRun } from '../records/consumed-records.js';
import { unknownTopic } from '../topics.js';
import { kafkaEvents } from '../events.js';

/** Long polls end after this; a partition that is resumed waits for it at the most. */
const maxWaitMs = 100;
/** A fetch of compressed batches becomes several times as large; the first batch always comes, however large. */
const maxFetchBytes = 256 * 1024;
const minFetchBytes = 64 * 1024;
/**
 * How long handlers under way may go on to their commit when the group rebalances. The whole group waits for it; what
 * is not committed is only delivered again.
 */
const rebalanceDrainMs = 1_000;
/** How long they may go on when the consumer cannot. */
const failedDrainMs = 5_000;
const rebalanceTimeoutMs = 15_000;
const metadataMaxAgeMs = 60_000;
const firstRestartMs = 200;
const longestRestartMs = 500;
const attemptsForUnknown = 4;
const disconnectMs = 2_000;
const permanentErrors = new Set([
  'GROUP_AUTHORIZATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'INVALID_GROUP_ID',
  'INVALID_SESSION_TIMEOUT',
  'INCONSISTENT_GROUP_PROTOCOL',
]);

interface ConsumerContext {
  readonly kafka: Kafka;
  readonly settings: KafkaSettings;
  readonly codecOf: CodecByAttribute;
}

interface Epoch {
  readonly session: GroupSession;
  readonly partitions: ReadonlyMap<string, PartitionConsumer>;
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

export class GroupConsumer implements Consumer {
  readonly finished: Promise<void>;
  readonly #kafka: Kafka;
  readonly #codecOf: CodecByAttribute;
  readonly #settings: KafkaSettings;
  readonly #options: ConsumeOptions;
  readonly #handler: ConsumeHandler;
  readonly #metrics;
  readonly #offsets: GroupOffsets;
  readonly #handlers: Semaphore;
  /** What a partition's earlier assignment still does; the next one begins after it. */
  readonly #tails = new Map<string, Promise<void>>();
  #finish!: { resolve: () => void; reject: (error: unknown) => void };
  #consumer: KafkajsConsumer | undefined;
  #joined: GroupSession | undefined;
  #epoch: Epoch | undefined;
  readonly #membership: Membership;
  #memberId: string | undefined;
  #heartbeatAt = 0;
  #heartbeats: NodeJS.Timeout | undefined;
  #restarts = 0;
  #stopping: Promise<void> | undefined;

  constructor({ kafka, settings, codecOf }: ConsumerContext, options: ConsumeOptions, handler: ConsumeHandler) {
    this.#kafka = kafka;
    this.#codecOf = codecOf;
    this.#settings = settings;
    this.#options = options;
    this.#handler = handler;
    this.#metrics = buildMetrics(settings.registry, topicMetrics);
    this.#offsets = createGroupOffsets(kafka, options.group, settings, this.#metrics);
    this.#handlers = createSemaphore(options.concurrency);
    this.#membership = createMembership(kafka, options.group, settings);
    this.finished = new Promise((resolve, reject) => {
      this.#finish = { resolve, reject };
    });
    this.finished.catch(() => undefined);
  }

  assigned(): readonly string[] {
    return [...(this.#epoch?.partitions.keys() ?? [])];
  }

  /** Resolves when the group is being joined; rejects when a topic does not exist. */
  async start(): Promise<void> {
    await this.#membership.begin();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#open();
        break;
      } catch (thrown: unknown) {
        if ((isSluiceError(thrown) && attempt >= attemptsForUnknown) || permanentErrors.has(errorType(thrown)))
          throw thrown;
        await sleep(Math.min(longestRestartMs, firstRestartMs * 2 ** attempt));
      }
    }
    this.#heartbeats = setInterval(() => this.#heartbeatIfSilent(), this.#settings.heartbeatMs);
  }

  async #open(): Promise<void> {
    const { sessionTimeoutMs, heartbeatMs } = this.#settings;
    const consumer = this.#kafka.consumer({
      groupId: this.#options.group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      maxWaitTimeInMs: maxWaitMs,
      minBytes: 1,
      maxBytesPerPartition: Math.min(maxFetchBytes, Math.max(minFetchBytes, this.#options.maxBatchBytes)),
      metadataMaxAge: metadataMaxAgeMs,
      allowAutoTopicCreation: false,
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
      partitionAssigners: [
        observingAssigner(
          {
            beforeJoin: () => this.#beforeJoin(),
            joining: (memberId) => this.#membership.joining(memberId),
            memberUnknown: () => {
              this.#memberId = undefined;
            },
            joined: (session) => {
              this.#joined = session;
              this.#memberId = session.memberId;
              void this.#membership.joined(session.memberId);
            },
            replaceReset: (topic, partition) => this.#replaceReset(topic, partition),
          },
          this.#codecOf,
        ),
      ],
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true }).catch((thrown: unknown) => {
        throw unknownTopic(this.#options.topics.join(', '), thrown);
      });
    } catch (thrown: unknown) {
      consumer.disconnect().catch(() => undefined);
      throw thrown;
    }
    this.#consumer = consumer;
    consumer.on(consumer.events.GROUP_JOIN, (event) => this.#onJoin(consumer, event));
    consumer.on(consumer.events.HEARTBEAT, () => {
      this.#heartbeatAt = performance.now();
      this.#restarts = 0;
    });
    consumer.on(consumer.events.CRASH, (event) => void this.#onCrash(consumer, event));
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 1,
      eachBatch: async (payload) => this.#onFetched(payload),
    });
  }

  async #beforeJoin(): Promise<string | undefined> {
    await this.#endEpoch(rebalanceDrainMs);
    return this.#memberId;
  }

  #onJoin(consumer: KafkajsConsumer, { payload }: ConsumerGroupJoinEvent): void {
    const session = this.#joined;
    if (session === undefined || this.#stopping !== undefined || consumer !== this.#consumer) return;
    const partitions = new Map<string, PartitionConsumer>();
    for (const [topic, numbers] of Object.entries(payload.memberAssignment)) {
      consumer.pause([{ topic, partitions: numbers }]);
      const offsetsOf = this.#offsets.once(session, topic, numbers);
      for (const partition of numbers)
        partitions.set(
          keyOf(topic, partition),
          this.#createPartition(consumer, { topic, partition, session }, offsetsOf),
        );
    }
    this.#epoch = { session, partitions };
    this.#heartbeatAt = performance.now();
    for (const [key, partition] of partitions) {
      const run = (this.#tails.get(key) ?? Promise.resolve()).then(() => partition.run());
      this.#tails.set(key, run);
    }
    const facts = { group: this.#options.group, generation: session.generation, partitions: [...partitions.keys()] };
    kafkaEvents.partitionsAssigned(
      this.#settings.log,
      facts,
      partitions.size > 0
        ? 'partitions assigned'
        : 'there are more consumers than partitions: this one has none, and waits as a spare',
    );
  }

  #createPartition(
    consumer: KafkajsConsumer,
    place: { topic: string; partition: number; session: GroupSession },
    offsetsOf: (partition: number) => Promise<PartitionOffsets>,
  ): PartitionConsumer {
    const { group } = this.#options;
    const { topic, partition } = place;
    return new PartitionConsumer(place, this.#options, this.#handler, {
      offsets: () => offsetsOf(partition),
      fetchFrom: (offset) => consumer.seek({ topic, partition, offset: String(offset) }),
      pause: () => consumer.pause([{ topic, partitions: [partition] }]),
      resume: () => consumer.resume([{ topic, partitions: [partition] }]),
      handlers: this.#handlers,
      lost: (expected, found) => void this.#offsets.reportGap(topic, partition, expected, found),
      handled: (records, lag) => {
        this.#metrics.recordsConsumed.inc({ group, topic }, records);
        this.#metrics.lag.set({ group, topic, partition }, lag);
      },
      rejected: (error) => {
        this.#metrics.batchesRedelivered.inc({ group, topic });
        kafkaEvents.batchRejected(this.#settings.log, { group, topic, partition, error: errorText(error) });
      },
      failed: (error) => void this.#fail(error),
    });
  }

  #onFetched(payload: EachBatchPayload): void {
    const { batch } = payload;
    const partition = this.#epoch?.partitions.get(keyOf(batch.topic, batch.partition));
    const { fetchedOffset } = batch as unknown as { readonly fetchedOffset: string };
    const run = fetchedRun(batch.messages, Number(fetchedOffset));
    if (partition === undefined || run === undefined) return;
    partition.push(run, Number(batch.highWatermark));
    payload.resolveOffset(String(run.nextOffset - 1));
  }

  async #replaceReset(topic: string, partition: number): Promise<{ offset: string; metadata: string }> {
    const { earliest } = await this.#offsets.one(topic, partition);
    return {
      offset: String(earliest),
      metadata: this.#epoch?.partitions.get(keyOf(topic, partition))?.committedMetadata ?? '',
    };
  }

  /** kafkajs beats between fetches; while one of them hangs on a broker that is away, this does. */
  #heartbeatIfSilent(): void {
    if (this.#epoch === undefined || performance.now() - this.#heartbeatAt < this.#settings.heartbeatMs) return;
    this.#epoch.session.heartbeat().catch(() => undefined);
  }

  /** Lets handlers under way finish and commit for a while, then gives the partitions up. */
  async #endEpoch(patienceMs: number): Promise<void> {
    const epoch = this.#epoch;
    if (epoch === undefined) return;
    for (const partition of epoch.partitions.values()) partition.drain();
    const runs = [...epoch.partitions.keys()].map((key) => this.#tails.get(key) ?? Promise.resolve());
    await Promise.race([Promise.all(runs), sleep(patienceMs, undefined, { ref: false })]);
    this.#revoke(epoch);
  }

  #revoke(epoch: Epoch): void {
    if (this.#epoch === epoch) this.#epoch = undefined;
    for (const partition of epoch.partitions.values()) {
      partition.end();
      this.#metrics.lag.remove({ group: this.#options.group, topic: partition.topic, partition: partition.partition });
    }
  }

  async #onCrash(crashed: KafkajsConsumer, { payload }: ConsumerCrashEvent): Promise<void> {
    if (crashed !== this.#consumer || this.#stopping !== undefined) return;
    this.#consumer = undefined;
    if (this.#epoch !== undefined) this.#revoke(this.#epoch);
    const permanent =
      permanentCause(payload.error) ?? (permanentErrors.has(errorType(payload.error)) ? payload.error : undefined);
    if (permanent !== undefined) return this.#fail(permanent);
    kafkaEvents.consumerRestarted(this.#settings.log, { group: this.#options.group, error: errorText(payload.error) });
    while (this.#stopping === undefined) {
      this.#restarts += 1;
      await sleep(Math.min(longestRestartMs, firstRestartMs * 2 ** Math.min(this.#restarts, 10)));
      if (this.#stopping !== undefined) return;
      try {
        await this.#open();
        return;
      } catch (thrown: unknown) {
        kafkaEvents.brokerStillAway(this.#settings.log, { group: this.#options.group, error: errorText(thrown) });
      }
    }
  }

  async commit(topic: string, partition: number, offset: number, metadata: string): Promise<void> {
    const epoch = this.#epoch;
    if (epoch?.partitions.has(keyOf(topic, partition)) !== true)
      throw topicErrors.create('TOPIC_PARTITION_REVOKED', { place: keyOf(topic, partition) });
    await epoch.session.commit(topic, partition, offset, metadata);
  }

  async #fail(error: unknown): Promise<void> {
    this.#finish.reject(error);
    await this.stop(failedDrainMs);
  }

  stop(deadlineMs: number): Promise<void> {
    this.#stopping ??= this.#stop(deadlineMs);
    return this.#stopping;
  }

  async #stop(deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    await this.#endEpoch(deadlineMs);
    clearInterval(this.#heartbeats);
    const left = Math.max(disconnectMs, deadline - performance.now());
    const disconnected = this.#consumer?.disconnect().catch(() => undefined) ?? Promise.resolve();
    await Promise.race([disconnected.then(() => this.#membership.end()), sleep(left, undefined, { ref: false })]).catch(
      () => undefined,
    );
    this.#finish.resolve();
  }
}

/** Our own error below those that kafkajs puts around it. */
function permanentCause(thrown: unknown): Error | undefined {
  for (const error of causesOf(thrown, { errors: false }))
    if (isSluiceError(error)) return error.retryable ? undefined : error;
  return undefined;
}
