/** The topics that this process writes: opening what is there, creating what is missing. */
import { mkdir, readdir } from 'node:fs/promises';
import type { Log } from '../../core/log.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import type { TopicRecord, TopicSpec } from '../contract.js';
import { topicErrors } from '../errors.js';
import type { topicMetrics } from '../metrics.js';
import type { DiskGuard } from './disk.js';
import { assertName, hasCode, partitionFolder, syncFolder, topicFolder, topicsFolder } from './files.js';
import type { GroupOffsets } from './group-offsets.js';
import { Partition, type PartitionEvents } from './partition.js';
import { SegmentFiles, type EmbeddedFaults } from './segment-files.js';
import { infoOf, readTopicInfo, sameInfo, writeTopicInfo, type TopicInfo } from './topic-file.js';
import { embeddedEvents } from './events.js';

export interface Topic {
  readonly name: string;
  readonly info: TopicInfo;
  readonly partitions: readonly Partition[];
}

export interface TopicParts {
  readonly folder: string;
  readonly segmentBytes: number;
  readonly disk: DiskGuard;
  readonly groups: ReadonlyMap<string, GroupOffsets>;
  readonly metrics: BuiltMetrics<typeof topicMetrics>;
  readonly faults: EmbeddedFaults;
  readonly log: Log;
}

const maxKeyBytes = 255;
/** Three bytes a character at the most, and 16 bits for the length. */
const maxOriginLength = 21_000;

/** Topics in the folder; names that Sluice does not give are left alone. */
export async function listTopics(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(topicsFolder(folder), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw thrown;
  }
}

/** Opens the partitions that are not open yet. */
export async function openTopic(
  parts: TopicParts,
  name: string,
  info: TopicInfo,
  already: readonly Partition[] = [],
): Promise<Topic> {
  const partitions = [...already];
  while (partitions.length < info.partitions)
    partitions.push(await openPartition(parts, name, info, partitions.length));
  return { name, info, partitions };
}

async function openPartition(parts: TopicParts, topic: string, info: TopicInfo, number: number): Promise<Partition> {
  const { folder, segmentBytes, disk, groups, metrics, faults, log } = parts;
  const consumed = [...groups.values()]
    .map((group) => group.get(topic, number))
    .filter((entry) => entry?.generation === info.generation);
  const minLogEnd = Math.max(0, ...consumed.map((entry) => entry?.offset ?? 0));
  const { files, recovery } = await SegmentFiles.open(
    partitionFolder(folder, topic, number),
    segmentBytes,
    minLogEnd,
    faults,
  );
  const place = { topic, partition: number };
  if (recovery.tornBytes > 0) {
    metrics.tornBytesCut.labels(topic).inc(recovery.tornBytes);
    embeddedEvents.tornAppendCut(log, { ...place, bytes: recovery.tornBytes });
  }
  if (recovery.damagedBytes > 0)
    embeddedEvents.frameCorrupted(
      log,
      { ...place, bytes: recovery.damagedBytes, code: 'TOPIC_FRAME_CORRUPT' },
      topicErrors.kinds.TOPIC_FRAME_CORRUPT.summary,
    );
  return new Partition({ ...place, files, segmentBytes, disk, log, events: createEvents(metrics, topic) });
}

function createEvents(metrics: TopicParts['metrics'], topic: string): PartitionEvents {
  const records = metrics.recordsAppended.labels(topic);
  const bytes = metrics.bytesAppended.labels(topic);
  const seconds = metrics.appendSeconds.labels(topic);
  return {
    appended: (count, length, duration) => {
      records.inc(count);
      bytes.inc(length);
      seconds.observe(duration);
    },
    refused: (reason) => metrics.appendsRefused.labels(topic, reason).inc(),
    synced: (duration) => metrics.syncSeconds.observe(duration),
  };
}

/** Creates the topic, or fits what is there: partitions are added, never removed; limits are those of the settings. */
export async function ensureTopic(parts: TopicParts, spec: TopicSpec, existing: Topic | undefined): Promise<Topic> {
  assertName('topic', spec.name);
  if (existing === undefined) {
    await mkdir(topicFolder(parts.folder, spec.name), { recursive: true });
    await syncFolder(topicsFolder(parts.folder));
  }
  const known = existing?.info ?? (await readTopicInfo(parts.folder, spec.name));
  const wanted = infoOf(spec, known?.generation ?? Date.now());
  const info = { ...wanted, partitions: Math.max(wanted.partitions, known?.partitions ?? 0) };
  if (known === undefined || !sameInfo(known, info)) await writeTopicInfo(parts.folder, spec.name, info);
  return openTopic(parts, spec.name, info, existing?.partitions);
}

/** Throws for a record that can never be stored. */
export function assertRecords({ name, info }: Topic, records: readonly TopicRecord[]): void {
  for (const { key, value, origin } of records) {
    if (key.length > maxKeyBytes || origin.length > maxOriginLength || !isAscii(key)) {
      throw topicErrors.create('TOPIC_RECORD_INVALID', {
        place: name,
        got: `a key of ${key.length} characters, an origin of ${origin.length}`,
      });
    }
    if (value.length > info.maxMessageBytes) {
      throw topicErrors.create('TOPIC_RECORD_TOO_LARGE', {
        place: name,
        got: `${value.length} bytes`,
        allowed: `${info.maxMessageBytes} bytes (topics.max_message_bytes)`,
      });
    }
  }
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}
