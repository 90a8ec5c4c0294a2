/**
 * Cuts a byte stream into frames at NUL or newline. The outcome does not depend on how the stream was cut into reads.
 * A frame that lies within one read is a view of it; one that spans reads is copied piece by piece. Nothing of a read
 * is kept, so read buffers may be reused as soon as the frames are consumed.
 */
export type Delimiter = 'null' | 'newline';

interface FrameSplitterOptions {
  readonly delimiter: Delimiter;
  /** Largest frame without its delimiter (and without the carriage return that newline framing drops). */
  readonly maxFrameBytes: number;
}

export interface OversizeFrame {
  /** The first bytes, at most 64 KiB; an own copy. */
  readonly head: Buffer;
  readonly totalBytes: number;
}

/** Where frames go to; the caller empties it. */
export interface CutFrames {
  readonly frames: Buffer[];
  /** Those over the limit. */
  readonly oversize: OversizeFrame[];
}

export interface FrameSplitter {
  /** Appends the frames that this read completes. */
  feed(chunk: Buffer, into: CutFrames): void;
  /** The stream has ended: what stands without a delimiter is the last frame. */
  end(into: CutFrames): void;
  /**
   * Bytes kept of the frame that is not complete yet; never above maxFrameBytes + 1 (or 64 KiB, the head of one that is
   * skipped).
   */
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
  /** The beginning of the frame that spans reads: all of it, or its head while it is being skipped. */
  #waiting: Buffer = Buffer.alloc(0);
  #kept = 0;
  /** Bytes of that frame so far. */
  #total = 0;
  #empty = 0;

  constructor(options: FrameSplitterOptions) {
    this.#newline = options.delimiter === 'newline';
    this.#delimiter = this.#newline ? 0x0a : 0;
    this.#max = options.maxFrameBytes;
  }

  get waitingBytes(): number {
    return this.#kept;
  }

  get emptyFrames(): number {
    return this.#empty;
  }

  feed(chunk: Buffer, into: CutFrames): void {
    let from = 0;
    let at = chunk.indexOf(this.#delimiter);
    if (at !== -1 && this.#total > 0) {
      this.#append(chunk, 0, at);
      this.#finish(into);
      from = at + 1;
      at = chunk.indexOf(this.#delimiter, from);
    }
    while (at !== -1) {
      this.#emit(chunk, from, at, into);
      from = at + 1;
      at = chunk.indexOf(this.#delimiter, from);
    }
    if (from < chunk.length) this.#append(chunk, from, chunk.length);
  }

  end(into: CutFrames): void {
    if (this.#total > 0) this.#finish(into);
    this.#waiting = Buffer.alloc(0);
  }

  /** Passes on the frame `bytes[from..to)`: without its carriage return (newline) and the white space before it. */
  #emit(bytes: Buffer, from: number, to: number, into: CutFrames): void {
    const end = this.#newline && to > from && bytes[to - 1] === carriageReturn ? to - 1 : to;
    if (end - from > this.#max) {
      into.oversize.push({
        head: Buffer.from(bytes.subarray(from, Math.min(to, from + headBytes))),
        totalBytes: to - from,
      });
      return;
    }
    let start = from;
    while (start < end && isBlank(bytes[start] ?? 0)) start += 1;
    if (start === end) this.#empty += 1;
    else into.frames.push(bytes.subarray(start, end));
  }

  /** Adds to the frame that spans reads; past the limit only its head is kept. */
  #append(chunk: Buffer, from: number, to: number): void {
    this.#total += to - from;
    const skipping = this.#total > this.#max + 1;
    const wanted = skipping ? Math.min(this.#total, headBytes) : this.#total;
    if (wanted <= this.#kept) {
      if (skipping && this.#kept > headBytes) this.#shrink();
      return;
    }
    if (wanted > this.#waiting.length) this.#grow(wanted);
    chunk.copy(this.#waiting, this.#kept, from, from + wanted - this.#kept);
    this.#kept = wanted;
  }

  #grow(wanted: number): void {
    const most = Math.max(this.#max + 1, headBytes);
    const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, this.#waiting.length * 2, 512), most));
    this.#waiting.copy(larger, 0, 0, this.#kept);
    this.#waiting = larger;
  }

  #shrink(): void {
    this.#waiting = Buffer.from(this.#waiting.subarray(0, headBytes));
    this.#kept = headBytes;
  }

  /** A small buffer stays for the next frame; a large one goes along with the frame, uncopied. */
  #takeWaiting(): Buffer {
    const waiting = this.#waiting.subarray(0, this.#kept);
    if (this.#waiting.length <= keptBytes) return Buffer.from(waiting);
    this.#waiting = Buffer.alloc(0);
    return waiting;
  }

  #finish(into: CutFrames): void {
    const whole = this.#takeWaiting();
    const total = this.#total;
    this.#kept = 0;
    this.#total = 0;
    if (total > this.#max + 1) into.oversize.push({ head: whole, totalBytes: total });
    else this.#emit(whole, 0, total, into);
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

export function createFrameSplitter(options: FrameSplitterOptions): FrameSplitter {
  return new Splitter(options);
}
