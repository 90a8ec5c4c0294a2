/** Finds the end of a segment: where the last sound frame ends and which offset comes next. */
import type { FileHandle } from 'node:fs/promises';
import { FrameReader } from './frame-reader.js';

export interface SegmentScan {
  /** End of the last sound frame: what follows was never acknowledged. */
  readonly bytes: number;
  readonly logEnd: number;
  readonly maxTimestamp: number;
  /** Bytes of acknowledged frames that are damaged, between sound ones. */
  readonly damagedBytes: number;
}

const nothing = (base: number): SegmentScan => ({
  bytes: 0,
  logEnd: base,
  maxTimestamp: Number.NEGATIVE_INFINITY,
  damagedBytes: 0,
});

/** A segment that is open. */
interface OpenSegment {
  readonly handle: FileHandle;
  readonly file: string;
  /** Its first offset. */
  readonly base: number;
}

/** `fileBytes` are looked at, those that `known` has seen already left out. The handle stays open. */
export async function scanSegment(
  { handle, file, base }: OpenSegment,
  fileBytes: number,
  known?: SegmentScan,
): Promise<SegmentScan> {
  const reader = new FrameReader(handle, file);
  const from = known !== undefined && (await goesOn(reader, known, fileBytes)) ? known : nothing(base);
  let { bytes, logEnd, maxTimestamp, damagedBytes } = from;
  for (;;) {
    const found = await reader.frame(bytes, fileBytes);
    if (found === 'end') break;
    if (found === 'bad' || found.header.baseOffset < logEnd) {
      const next = await reader.findFrame(bytes + 1, fileBytes, logEnd);
      const damaged = next !== undefined && next.position - next.header.lead > bytes;
      if (!damaged) break;
      damagedBytes += next.position - bytes;
      bytes = next.position;
      continue;
    }
    bytes += found.header.bytes;
    logEnd = found.header.baseOffset + found.header.count;
    maxTimestamp = Math.max(maxTimestamp, found.header.maxTimestamp);
  }
  return { bytes, logEnd, maxTimestamp, damagedBytes };
}

/** False when what was seen before may have been cut off and written anew meanwhile. */
async function goesOn(reader: FrameReader, { bytes, logEnd }: SegmentScan, fileBytes: number): Promise<boolean> {
  if (fileBytes < bytes) return false;
  const next = await reader.frame(bytes, fileBytes);
  return next === 'end' || (next !== 'bad' && next.header.baseOffset === logEnd);
}
