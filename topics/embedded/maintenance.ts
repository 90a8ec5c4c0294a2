/** What the embedded log does every few seconds: retention of all topics, and the gauges. */
import type { BuiltMetrics } from '../../core/metrics.js';
import type { Log } from '../../core/log.js';
import type { topicMetrics } from '../metrics.js';
import type { DiskGuard } from './disk.js';
import type { GroupOffsets } from './group-offsets.js';
import { retain } from './retention.js';
import type { TopicInfo } from './topic-file.js';
import type { Topic } from './topics.js';
import { embeddedEvents } from './events.js';

export interface Maintained {
  readonly topics: ReadonlyMap<string, Topic>;
  readonly groups: ReadonlyMap<string, GroupOffsets>;
  readonly metrics: BuiltMetrics<typeof topicMetrics>;
  readonly disk: DiskGuard;
  readonly log: Log;
  readonly mayLog: (topic: string) => { readonly allowed: boolean };
}

export async function maintainTopics(maintained: Maintained): Promise<void> {
  const { topics, groups, metrics, disk, log, mayLog } = maintained;
  await disk.refresh();
  for (const { name, info, partitions } of topics.values()) {
    let [held, removed] = [0, 0];
    const holders = new Set<string>();
    for (const partition of partitions) {
      const last = lastGroup(groups, name, info, partition.partition);
      const result = await retain(partition, info, last?.offset, Date.now());
      held += result.heldBytes;
      removed += result.removedSegments;
      if (result.heldBytes > 0 && last !== undefined) holders.add(last.group);
    }
    metrics.retentionHeld.labels(name).set(held);
    if (removed > 0) await disk.refresh(0);
    if (held > 0 && mayLog(name).allowed) {
      embeddedEvents.retentionHeldBack(log, { topic: name, held_bytes: held, groups: [...holders] });
    }
  }
  showGauges(maintained);
}

/**
 * The group that is furthest behind and from where it may still read; what is not durable yet does not count as
 * consumed.
 */
export function lastGroup(
  groups: Maintained['groups'],
  topic: string,
  { generation }: TopicInfo,
  partition: number,
): { readonly group: string; readonly offset: number } | undefined {
  let last: { readonly group: string; readonly offset: number } | undefined;
  for (const offsets of groups.values()) {
    const entry = [offsets.durable(topic, partition), offsets.get(topic, partition)].find(
      (each) => each?.generation === generation,
    );
    if (entry !== undefined && entry.offset < (last?.offset ?? Number.POSITIVE_INFINITY))
      last = { group: offsets.group, offset: entry.offset };
  }
  return last;
}

export function showGauges({ topics, groups, metrics }: Pick<Maintained, 'topics' | 'groups' | 'metrics'>): void {
  for (const topic of topics.values()) {
    const { name, partitions } = topic;
    metrics.segments.labels(name).set(partitions.reduce((sum, { files }) => sum + files.segments().length, 0));
    metrics.bytes.labels(name).set(partitions.reduce((sum, { files }) => sum + files.bytes, 0));
    for (const group of groups.values())
      for (const { partition } of partitions) showLag(metrics, group, topic, partition);
  }
}

export function showLag(metrics: Maintained['metrics'], group: GroupOffsets, topic: Topic, partition: number): void {
  const entry = group.get(topic.name, partition);
  const files = topic.partitions[partition]?.files;
  if (files === undefined || entry === undefined || entry.generation !== topic.info.generation) return;
  metrics.lag.labels(group.group, topic.name, String(partition)).set(files.logEnd - entry.offset);
}
