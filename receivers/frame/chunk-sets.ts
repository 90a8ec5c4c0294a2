/**
 * A queue of chunk sets from which any one can be taken out at once: a doubly linked list through the sets themselves.
 */

export interface ChunkSet {
  readonly key: string;
  readonly peer: string;
  /** Milliseconds: when its first chunk came, or, once complete, when it became complete. */
  since: number;
  /** Chunks announced. */
  count: number;
  received: number;
  /** Memory it is counted with. */
  bytes: number;
  /** Data by number; undefined once complete. */
  parts: (Buffer | undefined)[] | undefined;
  /** CRC-32 of each chunk's data once complete, to tell a late duplicate from a reused id. */
  checksums: readonly number[] | undefined;
  previous: ChunkSet | undefined;
  next: ChunkSet | undefined;
}

export class ChunkSetQueue {
  #first: ChunkSet | undefined;
  #last: ChunkSet | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get oldest(): ChunkSet | undefined {
    return this.#first;
  }

  add(set: ChunkSet): void {
    set.previous = this.#last;
    set.next = undefined;
    if (this.#last === undefined) this.#first = set;
    else this.#last.next = set;
    this.#last = set;
    this.#length += 1;
  }

  remove(set: ChunkSet): void {
    if (set.previous === undefined) this.#first = set.next;
    else set.previous.next = set.next;
    if (set.next === undefined) this.#last = set.previous;
    else set.next.previous = set.previous;
    set.previous = undefined;
    set.next = undefined;
    this.#length -= 1;
  }
}
