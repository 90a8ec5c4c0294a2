/**
 * Cuts a byte stream into frames at NUL or newline. The outcome does not depend on how the stream was cut into reads.
 * A frame that lies within one read is a view of it; one that spans reads is copied once. Nothing of a read is kept, so read buffers may be reused
 * as soon as the frames are consumed.
 */
export type Delimiter = 'null' | 'newline';

export interface FrameSplitterOptions {
  readonly delimiter: Delimiter;
  /** Largest frame without its delimiter (and without the carriage return that newline framing drops). */
  readonly maxFrameBytes: number;
}

export interface OversizeFrame {
  /** The first bytes, at most 64 KiB; an own copy. */
  readonly head: Buffer;
  readonly totalBytes: number;
}

export interface FrameSplitter {
  /** Appends the frames that this read completes to `frames`, and those over the limit to `oversize`. */
  feed(chunk: Buffer, frames: Buffer[], oversize: OversizeFrame[]): void;
  /** The stream has ended: what stands without a delimiter is the last frame. */
  end(frames: Buffer[], oversize: OversizeFrame[]): void;
  /** Bytes kept of the frame that is not complete yet; never above maxFrameBytes + 1. */
  readonly waitingBytes: number;
  /** Frames that held nothing, or white space only. */
  readonly emptyFrames: number;
}

/** What a dead letter keeps of a frame (schemas/messages.ts, Refusal.raw). */
const headBytes = 64 * 1024;
/** Kept for the next frame; a larger one is released, since ten thousand idle connections would add up. */
const keptBytes = 4096;
const carriageReturn = 0x0d;

class Splitter implements FrameSplitter {
  readonly #delimiter: number;
  readonly #newline: boolean;
  readonly #max: number;
  #waiting: Buffer = Buffer.alloc(0);
  #length = 0;
  /** Set while skipping a frame over the limit. */
  #head: Buffer | undefined;
  #skipped = 0;
  #empty = 0;

  constructor(options: FrameSplitterOptions) {
    this.#newline = options.delimiter === 'newline';
    this.#delimiter = this.#newline ? 0x0a : 0;
    this.#max = options.maxFrameBytes;
  }

  get waitingBytes(): number {
    return this.#head === undefined ? this.#length : this.#head.length;
  }

  get emptyFrames(): number {
    return this.#empty;
  }

  feed(chunk: Buffer, frames: Buffer[], oversize: OversizeFrame[]): void {
    let from = 0;
    let at = chunk.indexOf(this.#delimiter);
    if (at !== -1 && (this.#length > 0 || this.#head !== undefined)) {
      this.#append(chunk, 0, at);
      this.#finish(frames, oversize);
      from = at + 1;
      at = chunk.indexOf(this.#delimiter, from);
    }
    while (at !== -1) {
      this.#emit(chunk, from, at, frames, oversize);
      from = at + 1;
      at = chunk.indexOf(this.#delimiter, from);
    }
    if (from < chunk.length) this.#append(chunk, from, chunk.length);
  }

  end(frames: Buffer[], oversize: OversizeFrame[]): void {
    if (this.#length > 0 || this.#head !== undefined) this.#finish(frames, oversize);
    this.#waiting = Buffer.alloc(0);
  }

  /** Passes on the frame `bytes[from..to)`: without its carriage return (newline) or the white space before it (NUL). */
  #emit(bytes: Buffer, from: number, to: number, frames: Buffer[], oversize: OversizeFrame[]): void {
    let start = from;
    while (start < to && isBlank(bytes[start] as number)) start += 1;
    if (start === to) {
      if (to - from <= this.#max) this.#empty += 1;
      else oversize.push({ head: Buffer.from(bytes.subarray(from, Math.min(to, from + headBytes))), totalBytes: to - from });
      return;
    }
    const end = this.#newline && bytes[to - 1] === carriageReturn ? to - 1 : to;
    if (end - from > this.#max) {
      oversize.push({ head: Buffer.from(bytes.subarray(from, Math.min(to, from + headBytes))), totalBytes: to - from });
      return;
    }
    frames.push(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  }

  /** Adds to the frame that spans reads, or to what is skipped of it. */
  #append(chunk: Buffer, from: number, to: number): void {
    if (this.#head !== undefined) {
      this.#skipped += to - from;
      return;
    }
    const length = this.#length + to - from;
    if (length > this.#max + 1) {
      this.#startSkipping(chunk, from, to);
      return;
    }
    if (length > this.#waiting.length) this.#grow(length);
    chunk.copy(this.#waiting, this.#length, from, to);
    this.#length = length;
  }

  #grow(length: number): void {
    const size = Math.min(Math.max(length, this.#waiting.length * 2, 512), Math.max(this.#max + 1, length));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#waiting.copy(larger, 0, 0, this.#length);
    this.#waiting = larger;
  }

  #startSkipping(chunk: Buffer, from: number, to: number): void {
    const total = this.#length + to - from;
    const head = Buffer.allocUnsafeSlow(Math.min(total, headBytes));
    const copied = this.#waiting.copy(head, 0, 0, Math.min(this.#length, head.length));
    chunk.copy(head, copied, from, from + head.length - copied);
    this.#head = head;
    this.#skipped = total;
    this.#length = 0;
    this.#waiting = Buffer.alloc(0);
  }

  #finish(frames: Buffer[], oversize: OversizeFrame[]): void {
    if (this.#head !== undefined) {
      oversize.push({ head: this.#head, totalBytes: this.#skipped });
      this.#head = undefined;
      this.#skipped = 0;
      return;
    }
    const whole = Buffer.allocUnsafe(this.#length);
    this.#waiting.copy(whole, 0, 0, this.#length);
    this.#length = 0;
    if (this.#waiting.length > keptBytes) this.#waiting = Buffer.alloc(0);
    this.#emit(whole, 0, whole.length, frames, oversize);
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

export function createFrameSplitter(options: FrameSplitterOptions): FrameSplitter {
  return new Splitter(options);
}
