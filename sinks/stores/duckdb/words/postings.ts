/**
 * Where a word stands, as bytes: by row, ascending, eight times the distance to the row before (the first: to row 0)
 * plus the fields that have it, as variable-length numbers of seven bits a byte, the lowest first.
 */

export const fieldBits = 3;

/** Grows as it is written to. */
export class PostingsBuffer {
  bytes = new Uint8Array(2 ** 16);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  add(distance: number, fields: number): void {
    if (this.length + 5 > this.bytes.length) this.#grow();
    let left = (distance << fieldBits) | fields;
    while (left >= 0x80) {
      this.bytes[this.length++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    this.bytes[this.length++] = left;
  }

  #grow(): void {
    const larger = new Uint8Array(this.bytes.length * 2);
    larger.set(this.bytes);
    this.bytes = larger;
  }
}

/** Calls with each row, ascending, that has the word in one of the fields (a bit each). */
export function eachRow(bytes: Uint8Array, fields: number, onRow: (row: number) => void): void {
  for (let at = 0, row = 0; at < bytes.length; ) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    row += value >>> fieldBits;
    if ((value & fields) !== 0) onRow(row);
  }
}
