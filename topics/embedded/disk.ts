/** Keeps a reserve of free disk space: appends are refused before it is used up. */
import type { SluiceError } from '../../core/errors.js';
import { statfs } from 'node:fs/promises';
import { formatBytes } from '../../core/bytes.js';
import { topicErrors } from '../errors.js';

/** Free space is asked for at most this often; between, the bytes written are subtracted. */
const checkEveryMs = 1000;
/** While it is refused, asked for this often at most, so that the log goes on soon after there is room. */
const checkWhenFullEveryMs = 100;

export class DiskGuard {
  readonly #folder: string;
  readonly #reserveBytes: number;
  readonly #freeBytes: () => Promise<number>;
  #free = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #check: Promise<void> | undefined;
  #low = false;

  constructor(folder: string, reserveBytes: number, freeBytes: (() => Promise<number>) | undefined) {
    this.#folder = folder;
    this.#reserveBytes = reserveBytes;
    this.#freeBytes =
      freeBytes ??
      (async () => {
        const { bavail, bsize } = await statfs(folder);
        return bavail * bsize;
      });
  }

  /** Sets bytes aside for a write; throws TOPIC_DISK_FULL when they would use up the reserve. */
  async take(bytes: number): Promise<void> {
    await this.refresh(this.#low ? checkWhenFullEveryMs : checkEveryMs);
    if (this.#free - bytes < this.#reserveBytes) await this.refresh(checkWhenFullEveryMs);
    if (this.#free - bytes < this.#reserveBytes) throw this.full();
    this.#free -= bytes;
  }

  /** Asks for the free space when the last answer is older. */
  async refresh(olderThanMs = checkEveryMs): Promise<void> {
    if (performance.now() - this.#checkedAt < olderThanMs) return;
    this.#check ??= this.#freeBytes()
      .then((free) => {
        this.#free = free;
        this.#checkedAt = performance.now();
        this.#low = free < this.#reserveBytes;
      })
      .finally(() => {
        this.#check = undefined;
      });
    await this.#check;
  }

  /** Free space is below the reserve, by the last answer. */
  get low(): boolean {
    return this.#low;
  }

  full(cause?: unknown): SluiceError {
    return topicErrors.create('TOPIC_DISK_FULL', {
      place: this.#folder,
      got: `${formatBytes(Math.max(0, this.#free))} free`,
      allowed: `${formatBytes(this.#reserveBytes)} stay free (topics.embedded.reserve_bytes)`,
      cause,
    });
  }
}
