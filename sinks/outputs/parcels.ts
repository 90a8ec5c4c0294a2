/**
 * How many messages go out at once: large enough that a write costs little for each, small enough that a window of many
 * stays fine-grained.
 */
import { at } from '../../core/at.js';
import type { OutputRecord } from './contract.js';

const parcelBytes = 64 * 1024;
const parcelMessages = 512;

/** The end of the parcel that begins at `from`. One message always fits. */
export function parcelEnd(
  records: readonly OutputRecord[],
  from: number,
  maxMessages = parcelMessages,
  maxBytes = parcelBytes,
): number {
  let bytes = 0;
  let to = from;
  while (to < records.length && to - from < maxMessages) {
    bytes += at(records, to).value.length;
    if (to > from && bytes > maxBytes) break;
    to += 1;
  }
  return to;
}

export const nextOffsetOf = (records: readonly OutputRecord[], to: number): number => at(records, to - 1).offset + 1;
