/** Rows of one segment, a bit each. */
export class RowSet {
  readonly #rows: number;
  readonly #bits: Int32Array;

  constructor(rows: number) {
    this.#rows = rows;
    this.#bits = new Int32Array(Math.ceil(rows / 32));
  }

  add(row: number): void {
    this.#bits[row >>> 5] = (this.#bits[row >>> 5] ?? 0) | (1 << (row & 31));
  }

  remove(row: number): void {
    this.#bits[row >>> 5] = (this.#bits[row >>> 5] ?? 0) & ~(1 << (row & 31));
  }

  /** Takes out what the other one does not have. */
  intersect(other: RowSet): void {
    for (let at = 0; at < this.#bits.length; at += 1) this.#bits[at] = (this.#bits[at] ?? 0) & (other.#bits[at] ?? 0);
  }

  unite(other: RowSet): void {
    for (let at = 0; at < this.#bits.length; at += 1) this.#bits[at] = (this.#bits[at] ?? 0) | (other.#bits[at] ?? 0);
  }

  invert(): void {
    for (let at = 0; at < this.#bits.length; at += 1) this.#bits[at] = ~(this.#bits[at] ?? 0);
    if (this.#rows % 32 > 0)
      this.#bits[this.#bits.length - 1] = (this.#bits.at(-1) as number) & ((1 << (this.#rows % 32)) - 1);
  }

  /** Adds `first` to each and appends them to the list, ascending. */
  appendTo(list: number[], first: number): void {
    for (let at = 0; at < this.#bits.length; at += 1) {
      for (let bits = this.#bits[at] ?? 0; bits !== 0; bits &= bits - 1)
        list.push(first + at * 32 + 31 - Math.clz32(bits & -bits));
    }
  }
}
