/**
 * The bytes of a segment file: frames one after the other, nothing between them. Little-endian.
 *
 *   frame  = u32 length          bytes after the first 8
 *            u32 crc32           of those bytes (the CRC of zlib)
 *            u8  version = 1
 *            u8  flags = 0, u16 reserved = 0
 *            u32 count           records, at least 1
 *            f64 base offset     of the first record; the others follow without holes
 *            f64 max timestamp   milliseconds since the epoch
 *            u32 lead            bytes between the begin of the write that this frame was part of and this frame
 *            record * count
 *   record = u8  flags           1: origin follows, 2: timestamp follows; else they are the record's before in this
 *   frame
 *            u8  key length, u32 value length
 *            [u16 origin length, origin UTF-8] [f64 timestamp]
 *            key ASCII, value
 *
 * One write is one or more frames and is synced as a whole before the next write begins. So a bad frame that is
 * followed by a good frame of a later write (lead tells) was acknowledged and is damaged; any other bad frame was never
 * acknowledged.
 */
import { crc32 } from 'node:zlib';
import { at } from '../../core/at.js';
import type { ConsumedRecord, TopicRecord } from '../contract.js';

const frameVersion = 1;
export const headerBytes = 36;
/**
 * A frame is closed at this size: readers check and decode whole frames, 1 MiB keeps that under a millisecond or two.
 */
const maxFrameBytes = 2 ** 20;

const lengthBytes = 8;
const hasOrigin = 1;
const hasTimestamp = 2;
const recordOverhead = 16;

export interface FrameHeader {
  /** Length of the whole frame. */
  readonly bytes: number;
  readonly count: number;
  readonly baseOffset: number;
  readonly maxTimestamp: number;
  readonly lead: number;
}

/** At least the bytes that the record takes in a frame. */
export const recordBound = (record: TopicRecord): number =>
  recordOverhead + record.key.length + record.value.length + 3 * record.origin.length;

/**
 * Encodes one write: as many frames as needed, from the begin of `target`, which is large enough. Returns its length.
 */
export function encodeFrames(target: Buffer, records: readonly TopicRecord[], baseOffset: number): number {
  let position = 0;
  let index = 0;
  while (index < records.length) {
    const start = position;
    const first = index;
    let origin: string | undefined;
    let timestamp = Number.NaN;
    let maxTimestamp = Number.NEGATIVE_INFINITY;
    position += headerBytes;
    while (index < records.length) {
      const record = at(records, index);
      if (index > first && position - start + recordBound(record) > maxFrameBytes) break;
      const flags = (record.origin === origin ? 0 : hasOrigin) | (record.timestamp === timestamp ? 0 : hasTimestamp);
      position = encodeRecord(target, position, record, flags);
      origin = record.origin;
      timestamp = record.timestamp;
      if (timestamp > maxTimestamp) maxTimestamp = timestamp;
      index += 1;
    }
    encodeHeader(target, start, position, {
      count: index - first,
      baseOffset: baseOffset + first,
      maxTimestamp,
      lead: start,
    });
  }
  return position;
}

/** `flags` say whether origin and timestamp stand in it; else they are those of the record before. */
function encodeRecord(target: Buffer, start: number, record: TopicRecord, flags: number): number {
  const { key, value } = record;
  target[start] = flags;
  target[start + 1] = key.length;
  target.writeUInt32LE(value.length, start + 2);
  let position = start + 6;
  if ((flags & hasOrigin) !== 0) {
    const bytes = target.write(record.origin, position + 2, 'utf8');
    target.writeUInt16LE(bytes, position);
    position += 2 + bytes;
  }
  if ((flags & hasTimestamp) !== 0) position = target.writeDoubleLE(record.timestamp, position);
  position += target.write(key, position, 'latin1');
  target.set(value, position);
  return position + value.length;
}

function encodeHeader(target: Buffer, start: number, end: number, header: Omit<FrameHeader, 'bytes'>): void {
  target.writeUInt32LE(end - start - lengthBytes, start);
  target[start + 8] = frameVersion;
  target.fill(0, start + 9, start + 12);
  target.writeUInt32LE(header.count, start + 12);
  target.writeDoubleLE(header.baseOffset, start + 16);
  target.writeDoubleLE(header.maxTimestamp, start + 24);
  target.writeUInt32LE(header.lead, start + 32);
  target.writeUInt32LE(crc32(target.subarray(start + lengthBytes, end)), start + 4);
}

/**
 * The header at `start`, when the bytes up to `end` can begin a frame; its checksum is not checked. `headerBytes` must
 * be there.
 */
export function decodeHeader(buffer: Buffer, start: number): FrameHeader | undefined {
  const length = buffer.readUInt32LE(start);
  const baseOffset = buffer.readDoubleLE(start + 16);
  const count = buffer.readUInt32LE(start + 12);
  const marked = buffer[start + 8] === frameVersion && buffer[start + 9] === 0 && buffer.readUInt16LE(start + 10) === 0;
  if (
    !marked ||
    length <= headerBytes - lengthBytes ||
    count === 0 ||
    !Number.isSafeInteger(baseOffset) ||
    baseOffset < 0
  )
    return undefined;
  return {
    bytes: length + lengthBytes,
    count,
    baseOffset,
    maxTimestamp: buffer.readDoubleLE(start + 24),
    lead: buffer.readUInt32LE(start + 32),
  };
}

/**
 * The version of a sound frame of another program: length, checksum and version stand at the same place in every
 * version. Undefined for anything else.
 */
export function foreignFrameVersion(buffer: Buffer, start: number, end: number): number | undefined {
  const bytes = buffer.readUInt32LE(start) + lengthBytes;
  const version = buffer[start + lengthBytes] ?? 0;
  if (version === frameVersion || bytes <= lengthBytes || bytes > end - start) return undefined;
  return crc32(buffer.subarray(start + lengthBytes, start + bytes)) === buffer.readUInt32LE(start + 4)
    ? version
    : undefined;
}

/** Whether the checksum of the frame at `start`, which lies in the buffer as a whole, is right. */
export function checkFrame(buffer: Buffer, start: number, header: FrameHeader): boolean {
  return crc32(buffer.subarray(start + lengthBytes, start + header.bytes)) === buffer.readUInt32LE(start + 4);
}

/** Steps through the records of checked frames. The values it hands out are views of the frame's buffer. */
export class RecordCursor {
  #buffer: Buffer = Buffer.alloc(0);
  #position = 0;
  #left = 0;
  #offset = 0;
  #origin = '';
  #timestamp = 0;

  load(buffer: Buffer, start: number, header: FrameHeader): void {
    this.#buffer = buffer;
    this.#position = start + headerBytes;
    this.#left = header.count;
    this.#offset = header.baseOffset;
  }

  /** Lets go of the buffer. */
  clear(): void {
    this.#buffer = Buffer.alloc(0);
    this.#left = 0;
  }

  get left(): number {
    return this.#left;
  }

  /** Bytes of key and value of the next record. */
  peekBytes(): number {
    return (this.#buffer[this.#position + 1] ?? 0) + this.#buffer.readUInt32LE(this.#position + 2);
  }

  next(): ConsumedRecord {
    const buffer = this.#buffer;
    const flags = buffer[this.#position] ?? 0;
    const keyEnd = buffer[this.#position + 1] ?? 0;
    const valueBytes = buffer.readUInt32LE(this.#position + 2);
    let position = this.#position + 6;
    if ((flags & hasOrigin) !== 0) {
      const end = position + 2 + buffer.readUInt16LE(position);
      this.#origin = buffer.toString('utf8', position + 2, end);
      position = end;
    }
    if ((flags & hasTimestamp) !== 0) {
      this.#timestamp = buffer.readDoubleLE(position);
      position += 8;
    }
    const valueStart = position + keyEnd;
    const key = buffer.toString('latin1', position, valueStart);
    this.#position = valueStart + valueBytes;
    this.#left -= 1;
    this.#offset += 1;
    return {
      key,
      value: buffer.subarray(valueStart, this.#position),
      timestamp: this.#timestamp,
      origin: this.#origin,
      offset: this.#offset - 1,
    };
  }
}
