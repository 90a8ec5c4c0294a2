/** Retention of one partition: whole segments, oldest first, never one that a known group has not consumed. */
import type { Partition } from './partition.js';
import type { TopicInfo } from './topic-file.js';

interface RetentionResult {
  readonly removedSegments: number;
  /** Bytes that retention would remove and a group still needs. */
  readonly heldBytes: number;
}

/** `consumedTo`: the lowest durable offset among the groups that know the partition; undefined when none does. */
export async function retain(
  partition: Partition,
  info: TopicInfo,
  consumedTo: number | undefined,
  now: number,
): Promise<RetentionResult> {
  const { files } = partition;
  const limit = consumedTo ?? files.logEnd;
  const isOld = (timestamp: number) => info.retentionMs !== undefined && timestamp + info.retentionMs < now;
  await partition.exclusively(async () => {
    const active = files.segments().at(-1);
    // An active segment whose records are all too old makes room for a new one, so that it can go.
    if (active !== undefined && active.bytes > 0 && isOld(active.maxTimestamp) && limit >= files.logEnd)
      await files.roll(files.logEnd);
  });
  let removedSegments = 0;
  let bytes = files.bytes;
  for (;;) {
    const [oldest, next] = files.segments();
    if (oldest === undefined || next === undefined || next.base > limit) break;
    const tooMuch = info.retentionBytes !== undefined && bytes - oldest.bytes >= info.retentionBytes;
    if (!tooMuch && !isOld(oldest.maxTimestamp)) break;
    await partition.exclusively(() => files.removeOldest());
    bytes -= oldest.bytes;
    removedSegments += 1;
  }
  return { removedSegments, heldBytes: countHeld(partition, info, bytes, isOld) };
}

/** What is past retention still: only a group can be the reason, apart from the last segment. */
function countHeld(
  partition: Partition,
  info: TopicInfo,
  total: number,
  isOld: (timestamp: number) => boolean,
): number {
  let held = 0;
  for (const segment of partition.files.segments().slice(0, -1)) {
    const tooMuch = info.retentionBytes !== undefined && total - held - segment.bytes >= info.retentionBytes;
    if (!tooMuch && !isOld(segment.maxTimestamp)) break;
    held += segment.bytes;
  }
  return held;
}

/** Removes whole segments below the offset; when all is below it, the active one makes room for a new one first. */
export async function trim(partition: Partition, before: number): Promise<void> {
  const { files } = partition;
  await partition.exclusively(async () => {
    if (before >= files.logEnd && (files.segments().at(-1)?.bytes ?? 0) > 0) await files.roll(files.logEnd);
    for (let next = files.segments()[1]; next !== undefined && next.base <= before; next = files.segments()[1])
      await files.removeOldest();
  });
}
