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

/** `fileBytes` are looked at. The handle stays open. */
export async function scanSegment(handle: FileHandle, base: number, fileBytes: number): Promise<SegmentScan> {
  const reader = new FrameReader(handle);
  let [bytes, logEnd, maxTimestamp, damagedBytes] = [0, base, Number.NEGATIVE_INFINITY, 0];
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
