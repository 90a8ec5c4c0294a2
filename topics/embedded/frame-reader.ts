/** Reads checked frames of one open segment file, in pieces. */
import type { FileHandle } from 'node:fs/promises';
import { formatVersions } from '../../core/formats/versions.js';
import { assertVersion } from '../../core/formats/stamp.js';
import { checkFrame, decodeHeader, foreignFrameVersion, headerBytes, type FrameHeader } from './frame.js';

/**
 * Read from a file at once. Larger pieces cost memory for as long as one record of them is held, smaller ones calls.
 */
const pieceBytes = 2 ** 20;
/**
 * A longer one is not looked at: frames are closed at a hundredth of it, and a length of torn bytes may be anything.
 */
const longestForeignBytes = 128 * 2 ** 20;

interface Frame {
  readonly buffer: Buffer;
  /** Where the frame begins in the buffer. */
  readonly start: number;
  readonly header: FrameHeader;
}

/** 'end': no byte is left before the limit. 'bad': what stands there is not a whole, sound frame. */
type FrameOutcome = Frame | 'end' | 'bad';

export class FrameReader {
  readonly #handle: FileHandle;
  readonly #place: string;
  #buffer: Buffer = Buffer.alloc(0);
  /** Position in the file of the buffer's first byte. */
  #from = 0;

  constructor(handle: FileHandle, place: string) {
    this.#handle = handle;
    this.#place = place;
  }

  /**
   * The frame at this position of the file, of which the bytes before `limit` may be read. Rejects for a sound frame of
   * a newer version.
   */
  async frame(position: number, limit: number): Promise<FrameOutcome> {
    if (position >= limit) return 'end';
    if (limit - position < headerBytes) return 'bad';
    if (!this.#holds(position, headerBytes) && !(await this.#read(position, limit, headerBytes))) return 'bad';
    const header = decodeHeader(this.#buffer, position - this.#from);
    if (header === undefined) await this.#assertOurs(position, limit);
    if (header === undefined || header.bytes > limit - position) return 'bad';
    if (!this.#holds(position, header.bytes) && !(await this.#read(position, limit, header.bytes))) return 'bad';
    const start = position - this.#from;
    return checkFrame(this.#buffer, start, header) ? { buffer: this.#buffer, start, header } : 'bad';
  }

  /** What a newer program wrote is neither torn nor damaged. */
  async #assertOurs(position: number, limit: number): Promise<void> {
    const bytes = this.#buffer.readUInt32LE(position - this.#from) + headerBytes;
    const need = Math.min(bytes, limit - position);
    if (need > longestForeignBytes || (!this.#holds(position, need) && !(await this.#read(position, limit, need))))
      return;
    const version = foreignFrameVersion(this.#buffer, position - this.#from, position - this.#from + need);
    if (version !== undefined) assertVersion(formatVersions.topicFrame, version, `${this.#place} at byte ${position}`);
  }

  /** The position of the first sound frame after a bad one, with a base offset of at least `minOffset`. */
  async findFrame(
    after: number,
    limit: number,
    minOffset: number,
  ): Promise<{ readonly position: number; readonly header: FrameHeader } | undefined> {
    for (let position = after; position + headerBytes <= limit; position += 1) {
      if (!this.#holds(position, headerBytes) && !(await this.#read(position, limit, headerBytes))) return undefined;
      const header = decodeHeader(this.#buffer, position - this.#from);
      if (header === undefined || header.bytes > limit - position || header.baseOffset < minOffset) continue;
      const found = await this.frame(position, limit);
      if (typeof found === 'object') return { position, header };
    }
    return undefined;
  }

  /** Lets go of the piece it holds: nobody waits for the rest of it. */
  release(): void {
    this.#buffer = Buffer.alloc(0);
  }

  async close(): Promise<void> {
    this.release();
    await this.#handle.close();
  }

  #holds(position: number, bytes: number): boolean {
    return position >= this.#from && position + bytes <= this.#from + this.#buffer.length;
  }

  /**
   * Fills a new buffer from the position: records of the old one may still be in use. False when the file is shorter
   * than `need`.
   */
  async #read(position: number, limit: number, need: number): Promise<boolean> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(limit - position, Math.max(pieceBytes, need)));
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await this.#handle.read(buffer, filled, buffer.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    this.#buffer = filled === buffer.length ? buffer : buffer.subarray(0, filled);
    this.#from = position;
    return filled >= need;
  }
}
