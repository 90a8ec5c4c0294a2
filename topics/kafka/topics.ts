/**
 * Topics as the brokers keep them: created, checked, and asked for their offsets. A short-lived admin client each time:
 * see `topic-connection.ts`.
 */
import kafkajs, { type Admin, type ITopicConfig, type Kafka } from 'kafkajs';
import type { Log } from '../../core/log.js';
import type { PartitionState, TopicSpec } from '../contract.js';
import { topicErrors } from '../errors.js';
import { errorType } from './client/client.js';
import { kafkaEvents } from './events.js';

/**
 * What a batch of one largest record adds to it: header, key, origin, and what a codec adds to bytes that do not
 * shrink.
 */
const batchOverheadBytes = 16 * 1024;
const unlimited = '-1';
const longestMs = '9223372036854775807';

export async function withAdmin<Result>(kafka: Kafka, use: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await use(admin);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

export function unknownTopic(topic: string, thrown: unknown): unknown {
  return errorType(thrown) === 'UNKNOWN_TOPIC_OR_PARTITION'
    ? topicErrors.create('TOPIC_UNKNOWN', { place: topic, cause: thrown })
    : thrown;
}

export async function partitionStates(kafka: Kafka, topic: string): Promise<readonly PartitionState[]> {
  return withAdmin(kafka, async (admin) => {
    const offsets = await admin.fetchTopicOffsets(topic).catch((thrown: unknown) => {
      throw unknownTopic(topic, thrown);
    });
    return offsets
      .map(({ partition, low, high }) => ({ partition, earliest: Number(low), logEnd: Number(high), bytes: undefined }))
      .toSorted((left, right) => left.partition - right.partition);
  });
}

export async function committedOffsets(
  kafka: Kafka,
  group: string,
  topic: string,
): Promise<ReadonlyMap<number, number>> {
  return withAdmin(kafka, async (admin) => {
    const [answer] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const known = (answer?.partitions ?? [])
      .map(({ partition, offset }) => [partition, Number(offset)] as const)
      .filter(([, offset]) => offset >= 0);
    return new Map(known.toSorted(([left], [right]) => left - right));
  });
}

export async function deleteRecords(kafka: Kafka, topic: string, partition: number, before: number): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    // Loads the topic's metadata, which deleteTopicRecords takes for loaded.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] });
  });
}

/** What the brokers keep of one topic. */
interface ExistingTopic {
  readonly partitions: number;
  /** The fewest replicas of any partition. */
  readonly replicas: number;
  readonly maxMessageBytes: number;
}

interface EnsuredTopics {
  readonly warnings: readonly string[];
  readonly topics: ReadonlyMap<string, ExistingTopic>;
}

export async function ensureTopics(
  kafka: Kafka,
  specs: readonly TopicSpec[],
  replication: number,
  log: Log,
): Promise<EnsuredTopics> {
  return withAdmin(kafka, async (admin) => {
    const [existing, cluster] = await Promise.all([admin.listTopics(), admin.describeCluster()]);
    const missing = specs.filter(({ name }) => !existing.includes(name));
    const brokers = cluster.brokers.length;
    if (missing.length > 0) {
      await admin.createTopics({
        topics: missing.map((spec) => topicConfig(spec, replicasFor(replication, brokers))),
        waitForLeaders: true,
      });
      kafkaEvents.topicsCreated(log, { topics: missing.map(({ name }) => name) });
    }
    const topics = new Map<string, ExistingTopic>();
    const warnings: string[] = [];
    for (const spec of specs) {
      const found = await describeTopic(admin, spec.name);
      topics.set(spec.name, found);
      warnings.push(...checkTopic(spec, found, brokers));
    }
    return { warnings, topics };
  });
}

function replicasFor(replication: number, brokers: number): number {
  if (replication > 0) return replication;
  return brokers >= 3 ? 3 : -1;
}

function topicConfig(spec: TopicSpec, replicas: number): ITopicConfig {
  const entries: Record<string, string> = {
    'cleanup.policy': 'delete',
    'max.message.bytes': String(spec.maxMessageBytes + batchOverheadBytes + Math.ceil(spec.maxMessageBytes / 100)),
    'retention.bytes': spec.retentionBytes === undefined ? unlimited : String(spec.retentionBytes),
    'retention.ms': spec.retentionMs === undefined ? unlimited : String(spec.retentionMs),
    // A receiver whose clock is ahead would have every append refused, by default from one hour on (Kafka 3.6 and later
    // know the setting).
    'message.timestamp.after.max.ms': longestMs,
    ...(replicas >= 3 ? { 'min.insync.replicas': '2' } : {}),
  };
  return {
    topic: spec.name,
    numPartitions: spec.partitions,
    replicationFactor: replicas,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
  };
}

interface DescribedTopic extends ExistingTopic {
  readonly minInSync: number;
  readonly retentionMs: number;
  readonly retentionBytes: number;
}

async function describeTopic(admin: Admin, topic: string): Promise<DescribedTopic> {
  const [metadata, configs] = await Promise.all([
    admin.fetchTopicMetadata({ topics: [topic] }),
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    }),
  ]);
  const partitions = metadata.topics[0]?.partitions ?? [];
  const entries = new Map(
    configs.resources[0]?.configEntries.map(({ configName, configValue }) => [configName, Number(configValue)]),
  );
  return {
    partitions: partitions.length,
    replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
    maxMessageBytes: (entries.get('max.message.bytes') ?? 0) - batchOverheadBytes,
    minInSync: entries.get('min.insync.replicas') ?? 1,
    retentionMs: entries.get('retention.ms') ?? -1,
    retentionBytes: entries.get('retention.bytes') ?? -1,
  };
}

/** -1 is no limit; undefined asks for none. */
function isShorter(found: number, wanted: number | undefined): boolean {
  return found !== -1 && (wanted === undefined || found < wanted);
}

function checkTopic(spec: TopicSpec, found: ExistingTopic, brokers: number): string[] {
  const { partitions, replicas, maxMessageBytes, minInSync, retentionMs, retentionBytes } = found as DescribedTopic;
  const problems: [boolean, string][] = [
    [
      partitions < spec.partitions,
      `has ${partitions} partitions instead of ${spec.partitions}; add some with kafka-topics --alter`,
    ],
    [
      maxMessageBytes < spec.maxMessageBytes,
      `takes records of ${maxMessageBytes} bytes instead of ${spec.maxMessageBytes}; raise its max.message.bytes`,
    ],
    [
      isShorter(retentionMs, spec.retentionMs),
      `keeps records for ${retentionMs} ms instead of ${spec.retentionMs ?? 'for ever'}; raise its retention.ms`,
    ],
    [
      isShorter(retentionBytes, spec.retentionBytes),
      `keeps ${retentionBytes} bytes of a partition instead of ${spec.retentionBytes ?? 'all'}; raise its retention.bytes`,
    ],
    [
      brokers >= 3 && replicas < 3,
      `has ${replicas} replicas although there are ${brokers} brokers; a lost disk loses messages, use three`,
    ],
    [
      brokers >= 3 && minInSync < 2,
      `has min.insync.replicas=${minInSync} although there are ${brokers} brokers; an acknowledged message may be on one disk only, use 2`,
    ],
  ];
  return problems.filter(([applies]) => applies).map(([, text]) => `Topic ${spec.name} ${text}.`);
}
