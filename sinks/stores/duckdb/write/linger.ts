/**
 * A transaction costs about 20 ms of CPU however few rows it has. Small writes to one index wait a moment for those of
 * the other partitions that wrote lately, so that one transaction takes all of them; partitions that are answered
 * together come together from then on. A writer that is alone never waits, and nobody does where much comes in: writes
 * are large then, and one partition is routed while another one is written (waiting took 15 % of the ceiling).
 */

/** Who has not written for this long is not waited for. */
const forgetMs = 2_000;
/** So many documents are worth a transaction of their own. */
const enoughDocuments = 2_500;
/** Documents of a second, of all indices: a batch waits for each index that it has documents for. */
const muchDocuments = 8_000;
const secondMs = 1_000;

/** Documents a second, of all indices. */
export class WriteRate {
  #began = 0;
  #now = 0;
  #before = 0;

  arrived(documents: number): void {
    const now = performance.now();
    if (now - this.#began > secondMs) {
      this.#before = now - this.#began > 2 * secondMs ? 0 : this.#now;
      this.#now = 0;
      this.#began = now;
    }
    this.#now += documents;
  }

  /** Of this second or the one before, if there was anything to write in it. */
  get perSecond(): number {
    return performance.now() - this.#began > 2 * secondMs ? 0 : Math.max(this.#now, this.#before);
  }

  get isMuch(): boolean {
    return this.perSecond >= muchDocuments;
  }
}

/** The writers of one index. */
export class Linger {
  readonly #longestMs: number;
  readonly #rate: WriteRate;
  /** Writers by when they wrote last, milliseconds of the monotonic clock. */
  readonly #seen = new Map<string, number>();
  readonly #present = new Set<string>();
  #documents = 0;
  #enough: (() => void) | undefined;

  constructor(longestMs: number, rate: WriteRate) {
    this.#longestMs = longestMs;
    this.#rate = rate;
  }

  /** A write waits. */
  arrived(writer: string, documents: number): void {
    this.#rate.arrived(documents);
    this.#seen.set(writer, performance.now());
    this.#present.add(writer);
    this.#documents += documents;
    if (this.#isEnough()) this.end();
  }

  /** Nobody is waited for any more, this time. */
  end(): void {
    this.#enough?.();
  }

  /** What waits is being written now. */
  left(): void {
    this.#present.clear();
    this.#documents = 0;
  }

  /** Resolves when waiting for more is of no use; undefined: at once. */
  wait(): Promise<void> | undefined {
    const oldest = performance.now() - forgetMs;
    for (const [writer, at] of this.#seen) if (at < oldest && !this.#present.has(writer)) this.#seen.delete(writer);
    if (this.#longestMs <= 0 || this.#isEnough()) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.end(), this.#longestMs);
      this.#enough = () => {
        clearTimeout(timer);
        this.#enough = undefined;
        resolve();
      };
    });
  }

  #isEnough(): boolean {
    return this.#present.size >= this.#seen.size || this.#documents >= enoughDocuments || this.#rate.isMuch;
  }
}
