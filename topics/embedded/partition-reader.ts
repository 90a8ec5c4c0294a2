/** Reads records of one partition in offset order, through all its segments. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConsumedRecord } from '../contract.js';
import { hasCode, segmentFile } from './files.js';
import { RecordCursor } from './frame.js';
import { FrameReader } from './frame-reader.js';
import type { PartitionSource, Segment } from './segment-files.js';

export interface BatchInProgress {
  readonly records: ConsumedRecord[];
  bytes: number;
  /** No further record fits the bounds. */
  full: boolean;
}

export const emptyBatch = (): BatchInProgress => ({ records: [], bytes: 0, full: false });

/**
 * Where the record of an offset begins in its segment: a reader that goes on from there does not walk the segment from
 * its start.
 */
export interface ReadPlace {
  readonly base: number;
  readonly offset: number;
  readonly position: number;
}

export class PartitionReader {
  readonly #source: PartitionSource;
  /** Told of offsets that were expected and are not there: removed by retention, or damaged. */
  readonly #onGap: (from: number, to: number) => void;
  readonly #cursor = new RecordCursor();
  readonly #from: ReadPlace | undefined;
  /** The next offset to hand out. */
  #offset: number;
  #segment: Segment | undefined;
  #reader: FrameReader | undefined;
  #position = 0;

  /**
   * `from`: where a reader of this partition ended before; it is believed only if the frame that stands there says so.
   */
  constructor(
    source: PartitionSource,
    fromOffset: number,
    onGap: (from: number, to: number) => void,
    from?: ReadPlace,
  ) {
    this.#source = source;
    this.#offset = fromOffset;
    this.#onGap = onGap;
    this.#from = from;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Undefined while no segment is open, or in the middle of a frame. */
  get place(): ReadPlace | undefined {
    const base = this.#segment?.base;
    return base === undefined || this.#cursor.left > 0
      ? undefined
      : { base, offset: this.#offset, position: this.#position };
  }

  /** Adds durable records until the bounds are reached (one record always fits) or none is left. */
  async fill(batch: BatchInProgress, maxRecords: number, maxBytes: number): Promise<void> {
    const { records } = batch;
    for (;;) {
      while (this.#cursor.left > 0) {
        const bytes = this.#cursor.peekBytes();
        if (records.length > 0 && (records.length >= maxRecords || batch.bytes + bytes > maxBytes)) {
          batch.full = true;
          return;
        }
        const record = this.#cursor.next();
        if (record.offset < this.#offset) continue;
        this.#offset = record.offset + 1;
        batch.bytes += bytes;
        records.push(record);
      }
      if (records.length >= maxRecords) batch.full = true;
      if (batch.full || !(await this.#nextFrame())) return;
    }
  }

  async close(): Promise<void> {
    this.#cursor.clear();
    this.#segment = undefined;
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }

  /** Loads the frame that holds the next offset; false when no more is durable. */
  async #nextFrame(): Promise<boolean> {
    this.#cursor.clear();
    while (this.#offset < this.#source.logEnd) {
      const reader = this.#reader;
      if (reader === undefined) {
        if (!(await this.#openSegment())) return false;
        continue;
      }
      const limit = this.#limit();
      let found = await reader.frame(this.#position, limit);
      if (found === 'bad') {
        const next = await reader.findFrame(this.#position + 1, limit, this.#offset);
        this.#position = next?.position ?? limit;
        found = await reader.frame(this.#position, limit);
      }
      if (typeof found !== 'object') {
        await this.#leaveSegment();
        continue;
      }
      const { header } = found;
      this.#position += header.bytes;
      if (header.baseOffset + header.count <= this.#offset) continue;
      this.#skipTo(header.baseOffset);
      this.#cursor.load(found.buffer, found.start, header);
      return true;
    }
    this.#reader?.release();
    return false;
  }

  /** Readable bytes of the open segment. When retention has removed it, it was complete. */
  #limit(): number {
    const base = this.#segment?.base;
    this.#segment = this.#source.segments().find((segment) => segment.base === base) ?? this.#segment;
    return this.#segment?.bytes ?? 0;
  }

  async #openSegment(): Promise<boolean> {
    for (;;) {
      const segments = this.#source.segments();
      const segment = segments.findLast(({ base }) => base <= this.#offset) ?? segments[0];
      if (segment === undefined) {
        this.#skipTo(this.#source.logEnd);
        return false;
      }
      try {
        const file = join(this.#source.folder, segmentFile(segment.base));
        this.#reader = new FrameReader(await open(file, 'r'), file);
      } catch (thrown) {
        // Removed by retention between the look at the list and the opening: the list is another one now.
        if (hasCode(thrown, 'ENOENT') && this.#source.segments()[0]?.base !== segments[0]?.base) continue;
        throw thrown;
      }
      this.#segment = segment;
      this.#position = await this.#startIn(segment, this.#reader);
      this.#skipTo(segment.base);
      return true;
    }
  }

  /** What stands at the place may have been cut off and written anew since. */
  async #startIn(segment: Segment, reader: FrameReader): Promise<number> {
    const from = this.#from;
    if (from === undefined || from.base !== segment.base || from.offset !== this.#offset) return 0;
    const frame = await reader.frame(from.position, segment.bytes);
    return typeof frame === 'object' && frame.header.baseOffset === from.offset ? from.position : 0;
  }

  /** At the end of the segment: goes on to the next one, when there is one. */
  async #leaveSegment(): Promise<void> {
    const base = this.#segment?.base ?? 0;
    const next = this.#source.segments().find((segment) => segment.base > base);
    if (next === undefined) {
      // Its last records are damaged: passed over, or the reader would never wait for new ones.
      if (this.#position >= this.#limit()) this.#skipTo(this.#source.logEnd);
      return;
    }
    await this.close();
    this.#skipTo(next.base);
  }

  #skipTo(offset: number): void {
    if (offset <= this.#offset) return;
    this.#onGap(this.#offset, offset);
    this.#offset = offset;
  }
}
