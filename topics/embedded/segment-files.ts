/** The segment files of one partition as their only writer sees them: recovery, durable writes, rolling, removal. */
import { mkdir, open, stat, unlink, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { listSegments, segmentFile, syncFolder } from './files.js';
import { scanSegment } from './scan.js';

export interface Segment {
  readonly base: number;
  /** Durable and whole: what readers may read. */
  readonly bytes: number;
  /** Newest receive time; of a segment of an earlier run the time of its last write. */
  readonly maxTimestamp: number;
}

/** What readers need to know of a partition. */
export interface PartitionSource {
  readonly folder: string;
  /** Oldest first; the last one may grow. */
  segments(): readonly Segment[];
  readonly logEnd: number;
}

/** Failures to inject, for tests. */
export interface EmbeddedFaults {
  /** Before a write of this many bytes to a segment: throw to fail it, return fewer for a short write. */
  readonly beforeWrite?: (bytes: number) => number;
  /** Before each sync of a segment: throw to fail it. */
  readonly beforeSync?: () => void;
}

interface Recovery {
  readonly tornBytes: number;
  readonly damagedBytes: number;
}

export class SegmentFiles implements PartitionSource {
  readonly folder: string;
  readonly #segmentBytes: number;
  readonly #faults: EmbeddedFaults;
  #segments: Segment[] = [];
  #handle: FileHandle | undefined;
  #logEnd = 0;
  /** A failed write may have left bytes behind the end of the last segment. */
  #dirty = false;

  private constructor(folder: string, segmentBytes: number, faults: EmbeddedFaults) {
    this.folder = folder;
    this.#segmentBytes = segmentBytes;
    this.#faults = faults;
  }

  /**
   * Opens what is there and cuts a torn tail. `minLogEnd`: offsets below were given out before and must not be used
   * again.
   */
  static async open(
    folder: string,
    segmentBytes: number,
    minLogEnd: number,
    faults: EmbeddedFaults,
  ): Promise<{ readonly files: SegmentFiles; readonly recovery: Recovery }> {
    const files = new SegmentFiles(folder, segmentBytes, faults);
    const recovery = await files.#recover(minLogEnd);
    return { files, recovery };
  }

  async #recover(minLogEnd: number): Promise<Recovery> {
    await mkdir(this.folder, { recursive: true });
    await syncFolder(dirname(this.folder));
    const bases = await listSegments(this.folder);
    const last = bases.pop();
    for (const base of bases) {
      const { size, mtimeMs } = await stat(join(this.folder, segmentFile(base)));
      this.#segments.push({ base, bytes: size, maxTimestamp: mtimeMs });
    }
    this.#logEnd = minLogEnd;
    if (last === undefined) return { tornBytes: 0, damagedBytes: 0 };
    const file = join(this.folder, segmentFile(last));
    this.#handle = await open(file, 'r+');
    const { size, mtimeMs } = await this.#handle.stat();
    const scan = await scanSegment({ handle: this.#handle, file, base: last }, size);
    if (scan.bytes < size) {
      await this.#handle.truncate(scan.bytes);
      await this.#handle.datasync();
    }
    this.#segments.push({ base: last, bytes: scan.bytes, maxTimestamp: scan.bytes > 0 ? scan.maxTimestamp : mtimeMs });
    this.#logEnd = scan.logEnd;
    if (minLogEnd > scan.logEnd) await this.roll(minLogEnd);
    return { tornBytes: size - scan.bytes, damagedBytes: scan.damagedBytes };
  }

  segments(): readonly Segment[] {
    return this.#segments;
  }

  get logEnd(): number {
    return this.#logEnd;
  }

  get earliest(): number {
    return this.#segments[0]?.base ?? this.#logEnd;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Writes and syncs frames of `count` records; all is durable when it resolves, nothing is kept when it rejects. */
  async write(frames: Buffer, count: number, maxTimestamp: number, onSynced: (seconds: number) => void): Promise<void> {
    const active = this.#segments.at(-1);
    if (active === undefined || (active.bytes > 0 && active.bytes + frames.length > this.#segmentBytes))
      await this.roll(this.#logEnd);
    const segment = this.#segments.at(-1) as Segment;
    const handle = this.#handle as FileHandle;
    if (this.#dirty) await this.#cut();
    this.#dirty = true;
    try {
      await this.#writeAll(handle, frames, segment.bytes);
      const start = performance.now();
      this.#faults.beforeSync?.();
      await handle.datasync();
      onSynced((performance.now() - start) / 1000);
    } catch (thrown) {
      // After a failed sync the kernel may have dropped the pages, so a second sync alone proves nothing: all is
      // written again.
      await this.#cut().catch(() => {});
      throw thrown;
    }
    this.#dirty = false;
    this.#segments[this.#segments.length - 1] = {
      base: segment.base,
      bytes: segment.bytes + frames.length,
      maxTimestamp: Math.max(segment.bytes > 0 ? segment.maxTimestamp : Number.NEGATIVE_INFINITY, maxTimestamp),
    };
    this.#logEnd += count;
  }

  async #writeAll(handle: FileHandle, frames: Buffer, position: number): Promise<void> {
    let written = 0;
    while (written < frames.length) {
      const allowed = this.#faults.beforeWrite?.(frames.length - written) ?? frames.length - written;
      const { bytesWritten } = await handle.write(
        frames,
        written,
        Math.min(allowed, frames.length - written),
        position + written,
      );
      if (bytesWritten === 0) throw Object.assign(new Error('ENOSPC: the file took no more bytes'), { code: 'ENOSPC' });
      written += bytesWritten;
    }
  }

  /** Removes what a failed write left behind the durable end. */
  async #cut(): Promise<void> {
    const segment = this.#segments.at(-1);
    if (segment === undefined || this.#handle === undefined) return;
    await this.#handle.truncate(segment.bytes);
    this.#dirty = false;
  }

  /**
   * Begins a new segment at this offset. A file of that name can only be what an earlier failed try left: it is
   * emptied.
   */
  async roll(base: number): Promise<void> {
    if (this.#dirty) await this.#cut();
    if (this.#segments.at(-1)?.base === base) return;
    const handle = await open(
      join(this.folder, segmentFile(base)),
      constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
    );
    try {
      await syncFolder(this.folder);
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
    await this.#handle?.close();
    this.#handle = handle;
    this.#segments = [...this.#segments, { base, bytes: 0, maxTimestamp: Date.now() }];
    this.#logEnd = base;
  }

  /** Removes the oldest segment; never the last one. */
  async removeOldest(): Promise<void> {
    const [oldest, next] = this.#segments;
    if (oldest === undefined || next === undefined) return;
    await unlink(join(this.folder, segmentFile(oldest.base)));
    this.#segments = this.#segments.slice(1);
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
