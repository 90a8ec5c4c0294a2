/** Reads a partition without a group, from an offset to the log end as it is at the call. */
import type { ConsumedRecord } from '../contract.js';
import { hasCode } from './files.js';
import { emptyBatch, PartitionReader, type ReadPlace } from './partition-reader.js';
import type { PartitionSource } from './segment-files.js';

const maxRecords = 1000;
const maxBytes = 2 ** 20;
/**
 * Looks anew at a partition whose oldest segment was just removed. More in a row mean that files are missing for
 * another reason.
 */
const maxLooks = 10;

/**
 * Where the last reading of each partition ended, by its folder: whoever reads on from there, again and again, reads
 * only what is new.
 */
export type ReadPlaces = Map<string, ReadPlace>;

export async function readRecords(
  look: () => Promise<PartitionSource>,
  fromOffset: number,
  onRecords: (records: readonly ConsumedRecord[]) => void | Promise<void>,
  places: ReadPlaces,
): Promise<void> {
  let source = await look();
  const { logEnd } = source;
  let next = fromOffset;
  for (let looks = 1; ; looks += 1) {
    const { folder } = source;
    const segments = source.segments.bind(source);
    const reader = new PartitionReader({ folder, logEnd, segments }, next, () => {}, places.get(folder));
    try {
      for (;;) {
        const batch = emptyBatch();
        const found = await reader.fill(batch, maxRecords, maxBytes).then(
          () => true,
          (thrown: unknown) => {
            if (hasCode(thrown, 'ENOENT') && looks < maxLooks) return false;
            throw thrown;
          },
        );
        if (!found) break;
        if (batch.records.length === 0) return;
        await onRecords(batch.records);
        next = reader.offset;
        if (reader.place !== undefined) places.set(folder, reader.place);
        looks = 1;
      }
    } finally {
      await reader.close();
    }
    source = await look();
  }
}
