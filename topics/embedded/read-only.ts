/** A partition as another process sees it: the sound frames that its files hold at the moment of the look. */
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, listSegments, segmentFile } from './files.js';
import { scanSegment, type SegmentScan } from './scan.js';
import type { PartitionSource, Segment } from './segment-files.js';

/** What the last look at a partition's last segment saw, so that the next one begins there. One entry a partition. */
export type LastLooks = Map<string, { readonly base: number; readonly scan: SegmentScan }>;

export async function lookAtPartition(folder: string, lastLooks: LastLooks): Promise<PartitionSource> {
  for (;;) {
    try {
      return await look(folder, lastLooks);
    } catch (thrown) {
      // A segment was removed by the writer's retention during the look.
      if (!hasCode(thrown, 'ENOENT') || (await firstBase(folder)) === undefined) throw thrown;
    }
  }
}

const firstBase = async (folder: string) => (await listSegments(folder))[0];

async function look(folder: string, lastLooks: LastLooks): Promise<PartitionSource> {
  let bases: number[] = [];
  try {
    bases = await listSegments(folder);
  } catch (thrown) {
    if (!hasCode(thrown, 'ENOENT')) throw thrown;
  }
  const last = bases.pop();
  if (last === undefined) return { folder, segments: () => [], logEnd: 0 };
  const segments: Segment[] = [];
  for (const base of bases) {
    const { size, mtimeMs } = await stat(join(folder, segmentFile(base)));
    segments.push({ base, bytes: size, maxTimestamp: mtimeMs });
  }
  const file = join(folder, segmentFile(last));
  const handle = await open(file, 'r');
  try {
    const known = lastLooks.get(folder);
    const scan = await scanSegment(
      { handle, file, base: last },
      (await handle.stat()).size,
      known?.base === last ? known.scan : undefined,
    );
    lastLooks.set(folder, { base: last, scan });
    segments.push({ base: last, bytes: scan.bytes, maxTimestamp: scan.maxTimestamp });
    return { folder, segments: () => segments, logEnd: scan.logEnd };
  } finally {
    await handle.close();
  }
}
