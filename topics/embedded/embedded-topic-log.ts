/** The embedded topic log: what ties lock, topics, groups, consumers and retention together. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, isSluiceError } from '../../core/errors.js';
import { createRateLimit, type Log } from '../../core/log.js';
import { buildMetrics, type BuiltMetrics, type Registry } from '../../core/metrics.js';
import type {
  ConsumedRecord,
  ConsumeHandler,
  ConsumeOptions,
  Consumer,
  PartitionState,
  TopicLog,
  TopicLogCapabilities,
  TopicRecord,
  TopicSpec,
} from '../contract.js';
import { topicErrors } from '../errors.js';
import { topicMetrics } from '../metrics.js';
import { EmbeddedConsumer } from './consumer.js';
import { DiskGuard } from './disk.js';
import { assertName, groupsFolder, hasCode, partitionFolder, syncFolder, topicsFolder, writeDurably } from './files.js';
import { GroupOffsets, listGroups, readGroup } from './group-offsets.js';
import { lockFolder, type FolderLock } from './lock.js';
import { lastGroup, maintainTopics, showGauges, showLag, type Maintained } from './maintenance.js';
import { lookAtPartition, type LastLooks } from './read-only.js';
import { trim } from './retention.js';
import { readRecords, type ReadPlaces } from './read-records.js';
import type { EmbeddedFaults, PartitionSource } from './segment-files.js';
import { readTopicInfo, type TopicInfo } from './topic-file.js';
import { assertRecords, ensureTopic, listTopics, openTopic, type Topic, type TopicParts } from './topics.js';
import { embeddedEvents } from './events.js';

export interface EmbeddedTopicLogOptions {
  /** Holds everything; created when missing. */
  readonly folder: string;
  readonly segmentBytes: number;
  /** Free disk space that appends never use. */
  readonly reserveBytes: number;
  readonly log: Log;
  readonly registry: Registry;
  /**
   * Only `read`, `partitions`, `committed` and `generation`, without `start` and without the lock, beside a process
   * that writes.
   */
  readonly readOnly?: boolean;
  /** Free bytes of the disk; for tests. */
  readonly freeBytes?: () => Promise<number>;
  /** Failures to inject; for tests. */
  readonly faults?: EmbeddedFaults;
}

/** Retention, gauges and the look at the disk. */
const maintainEveryMs = 5000;

export class EmbeddedTopicLog implements TopicLog {
  readonly #options: EmbeddedTopicLogOptions;
  readonly #metrics: BuiltMetrics<typeof topicMetrics>;
  readonly #disk: DiskGuard;
  readonly #topics = new Map<string, Topic>();
  readonly #groups = new Map<string, GroupOffsets>();
  readonly #consumers = new Map<EmbeddedConsumer, ConsumeOptions>();
  readonly #lastLooks: LastLooks = new Map();
  readonly #readPlaces: ReadPlaces = new Map();
  readonly #mayLog = createRateLimit(1);
  #lock: FolderLock | undefined;
  #groupGeneration = 0;
  #timer: NodeJS.Timeout | undefined;
  #maintaining: Promise<void> | undefined;
  #ensuring: Promise<unknown> = Promise.resolve();
  #state: 'new' | 'started' | 'stopped' = 'new';
  #stopped: Promise<void> | undefined;

  constructor(options: EmbeddedTopicLogOptions) {
    this.#options = options;
    this.#metrics = buildMetrics(options.registry, topicMetrics);
    this.#disk = new DiskGuard(options.folder, options.reserveBytes, options.freeBytes);
  }

  capabilities(): TopicLogCapabilities {
    const { segmentBytes, reserveBytes } = this.#options;
    return {
      name: 'embedded',
      shared: false,
      keepsUnread: true,
      deletionBytes: segmentBytes,
      reserveBytes,
      measuresBytes: true,
    };
  }

  async start(): Promise<void> {
    const { folder, readOnly } = this.#options;
    if (readOnly === true || this.#state === 'started') return;
    if (this.#state === 'stopped') throw topicErrors.create('TOPIC_LOG_STOPPED');
    try {
      await mkdir(topicsFolder(folder), { recursive: true });
      await mkdir(groupsFolder(folder), { recursive: true });
      await syncFolder(folder);
      this.#lock = await lockFolder(folder);
      await this.#open();
    } catch (thrown) {
      await this.#closeAll(0);
      if (isSluiceError(thrown)) throw thrown;
      throw topicErrors.create('TOPIC_FOLDER_UNWRITABLE', { place: folder, got: errorText(thrown), cause: thrown });
    }
    this.#state = 'started';
    this.#timer = setInterval(() => {
      this.maintain().catch((thrown: unknown) => embeddedEvents.retentionFailed(this.#options.log, errorText(thrown)));
    }, maintainEveryMs).unref();
  }

  async #open(): Promise<void> {
    const { folder, log } = this.#options;
    this.#groupGeneration = await countStart(folder);
    for (const group of await listGroups(folder))
      this.#groups.set(group, new GroupOffsets(folder, group, await readGroup(folder, group), log));
    for (const name of await listTopics(folder)) {
      const info = await readTopicInfo(folder, name);
      if (info !== undefined) this.#topics.set(name, await openTopic(this.#topicParts(), name, info));
    }
    await this.#disk.refresh();
    showGauges(this.#maintained());
  }

  #topicParts(): TopicParts {
    const { folder, segmentBytes, log, faults = {} } = this.#options;
    return { folder, segmentBytes, disk: this.#disk, groups: this.#groups, metrics: this.#metrics, faults, log };
  }

  stop(deadlineMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped ??= this.#closeAll(deadlineMs);
    this.#state = 'stopped';
    return this.#stopped;
  }

  async #closeAll(deadlineMs: number): Promise<void> {
    const end = performance.now() + deadlineMs;
    const left = () => Math.max(0, end - performance.now());
    await Promise.all([...this.#consumers.keys()].map((consumer) => consumer.stop(left())));
    await this.#maintaining?.catch(() => {});
    await Promise.all(
      [...this.#topics.values()].flatMap(({ partitions }) => partitions.map((partition) => partition.stop(left()))),
    );
    for (const group of this.#groups.values()) {
      await group
        .stop()
        .catch((thrown: unknown) =>
          embeddedEvents.offsetsNotFlushed(this.#options.log, { group: group.group }, errorText(thrown)),
        );
    }
    await this.#lock?.release();
    this.#lock = undefined;
  }

  async ensureTopics(specs: readonly TopicSpec[]): Promise<readonly string[]> {
    this.#assertWriter();
    const done = this.#ensuring.then(async () => {
      for (const spec of specs) {
        const topic = await ensureTopic(this.#topicParts(), spec, this.#topics.get(spec.name));
        const before = this.#topics.get(spec.name)?.partitions.length ?? 0;
        this.#topics.set(spec.name, topic);
        for (const [consumer, { topics }] of this.#consumers) {
          if (topics.includes(spec.name))
            for (const partition of topic.partitions.slice(before))
              consumer.add({ partition, generation: topic.info.generation });
        }
      }
      showGauges(this.#maintained());
      return [];
    });
    this.#ensuring = done.catch(() => {});
    return done;
  }

  async append(topic: string, partition: number, records: readonly TopicRecord[]): Promise<void> {
    this.#assertWriter();
    const known = this.#topics.get(topic);
    if (known === undefined) throw topicErrors.create('TOPIC_UNKNOWN', { got: topic });
    const owner = known.partitions[partition];
    if (owner === undefined) throw unknownPartition(topic, partition, known.info);
    if (records.length === 0) return;
    assertRecords(known, records);
    await owner.append(records);
  }

  writable(): { readonly ok: boolean; readonly reason: string } {
    if (this.#state !== 'started')
      return {
        ok: false,
        reason: topicErrors.kinds[this.#state === 'stopped' ? 'TOPIC_LOG_STOPPED' : 'TOPIC_LOG_NOT_STARTED'].summary,
      };
    for (const { partitions } of this.#topics.values()) {
      for (const { problem } of partitions) if (problem !== undefined) return { ok: false, reason: problem };
    }
    if (!this.#disk.low) return { ok: true, reason: '' };
    // Without appends nobody else would see soon that there is room again.
    this.#disk.refresh().catch(() => {});
    return { ok: false, reason: this.#disk.full().message };
  }

  async consume(options: ConsumeOptions, handler: ConsumeHandler): Promise<Consumer> {
    this.#assertWriter();
    assertName('group', options.group);
    for (const topic of options.topics) {
      if (!this.#topics.has(topic)) throw topicErrors.create('TOPIC_UNKNOWN', { got: topic });
      const taken = [...this.#consumers.values()].some(
        (other) => other.group === options.group && other.topics.includes(topic),
      );
      if (taken) throw topicErrors.create('TOPIC_GROUP_IN_USE', { place: topic, got: options.group });
    }
    const { folder, log } = this.#options;
    const offsets = this.#groups.get(options.group) ?? new GroupOffsets(folder, options.group, new Map(), log);
    this.#groups.set(options.group, offsets);
    const consumer: EmbeddedConsumer = new EmbeddedConsumer({
      options,
      handler,
      offsets,
      groupGeneration: this.#groupGeneration,
      log,
      onGap: (topic, partition, from, to) => {
        this.#metrics.recordsLost.labels(options.group, topic).inc(to - from);
        embeddedEvents.recordsLost(log, { group: options.group, topic, partition, from, to });
      },
      onHandled: (partition, records) => {
        this.#metrics.recordsConsumed.labels(options.group, partition.topic).inc(records);
        showLag(this.#metrics, offsets, this.#topics.get(partition.topic) as Topic, partition.partition);
      },
      onRedelivered: (topic) => this.#metrics.batchesRedelivered.labels(options.group, topic).inc(),
      onEnd: () => this.#consumers.delete(consumer),
    });
    this.#consumers.set(consumer, options);
    for (const name of options.topics) {
      const { partitions, info } = this.#topics.get(name) as Topic;
      for (const partition of partitions) consumer.add({ partition, generation: info.generation });
    }
    return consumer;
  }

  async read(
    topic: string,
    partition: number,
    fromOffset: number,
    onRecords: (records: readonly ConsumedRecord[]) => void | Promise<void>,
  ): Promise<void> {
    await readRecords(() => this.#source(topic, partition), fromOffset, onRecords, this.#readPlaces);
  }

  async partitions(topic: string): Promise<readonly PartitionState[]> {
    const sources = await this.#sources(topic);
    return sources.map((source, partition) => {
      const segments = source.segments();
      return {
        partition,
        earliest: segments[0]?.base ?? source.logEnd,
        logEnd: source.logEnd,
        bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    });
  }

  async trim(topic: string, partition: number, before: number): Promise<void> {
    this.#assertWriter();
    const known = this.#topics.get(topic);
    const owner = known?.partitions[partition];
    if (known === undefined || owner === undefined) return;
    await trim(owner, Math.min(before, lastGroup(this.#groups, topic, known.info, partition)?.offset ?? 0));
  }

  async committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    assertName('group', group);
    const { partitions, generation } = await this.#info(topic);
    const own = this.#groups.get(group);
    const written =
      own === undefined && this.#options.readOnly === true ? await readGroup(this.#options.folder, group) : undefined;
    const offsets = new Map<number, number>();
    for (let partition = 0; partition < partitions; partition += 1) {
      const entry = own?.get(topic, partition) ?? written?.get(`${topic}/${partition}`);
      if (entry !== undefined && entry.generation === generation && entry.metadata !== null)
        offsets.set(partition, entry.offset);
    }
    return offsets;
  }

  async generation(topic: string): Promise<number> {
    return (await this.#info(topic)).generation;
  }

  /** Retention, gauges and a look at the disk, at once; otherwise every few seconds. */
  maintain(): Promise<void> {
    this.#maintaining ??= maintainTopics(this.#maintained()).finally(() => {
      this.#maintaining = undefined;
    });
    return this.#maintaining;
  }

  #maintained(): Maintained {
    return {
      topics: this.#topics,
      groups: this.#groups,
      metrics: this.#metrics,
      disk: this.#disk,
      log: this.#options.log,
      mayLog: this.#mayLog,
    };
  }

  async #source(topic: string, partition: number): Promise<PartitionSource> {
    const source = (await this.#sources(topic))[partition];
    if (source === undefined) throw unknownPartition(topic, partition, await this.#info(topic));
    return source;
  }

  async #info(topic: string): Promise<TopicInfo> {
    const info = this.#topics.get(topic)?.info ?? (await readTopicInfo(this.#options.folder, topic));
    if (info === undefined) throw topicErrors.create('TOPIC_UNKNOWN', { got: topic });
    return info;
  }

  async #sources(topic: string): Promise<readonly PartitionSource[]> {
    const own = this.#topics.get(topic);
    if (own !== undefined) return own.partitions.map(({ files }) => files);
    const { partitions } = await this.#info(topic);
    return Promise.all(
      Array.from({ length: partitions }, (_, partition) =>
        lookAtPartition(partitionFolder(this.#options.folder, topic, partition), this.#lastLooks),
      ),
    );
  }

  #assertWriter(): void {
    if (this.#options.readOnly === true) throw topicErrors.create('TOPIC_READ_ONLY');
    if (this.#state === 'stopped') throw topicErrors.create('TOPIC_LOG_STOPPED');
    if (this.#state === 'new') throw topicErrors.create('TOPIC_LOG_NOT_STARTED');
  }
}

const unknownPartition = (topic: string, partition: number, info: TopicInfo) =>
  topicErrors.create('TOPIC_PARTITION_UNKNOWN', {
    place: topic,
    got: String(partition),
    allowed: `0 to ${info.partitions - 1}`,
  });

/** Grows with each start on this folder. */
async function countStart(folder: string): Promise<number> {
  const file = join(folder, 'starts.json');
  let starts = 0;
  try {
    const content = JSON.parse(await readFile(file, 'utf8')) as { readonly starts?: unknown };
    if (typeof content.starts !== 'number') throw new Error('starts is not a number');
    starts = content.starts;
  } catch (thrown) {
    if (!hasCode(thrown, 'ENOENT'))
      throw topicErrors.create('TOPIC_FILE_CORRUPT', { place: file, got: errorText(thrown), cause: thrown });
  }
  await writeDurably(file, `${JSON.stringify({ starts: starts + 1 })}\n`);
  return starts + 1;
}
