/** CRC-32C (Castagnoli), eight bytes a step: what Kafka's record batches are sealed with. Node.js has only CRC-32. */
const polynomial = 0x82f63b78;
const tables = buildTables();

function buildTables(): Int32Array[] {
  const all = Array.from({ length: 8 }, () => new Int32Array(256));
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    at(all, 0)[byte] = crc;
  }
  for (let index = 1; index < all.length; index += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const crc = at(all, index - 1)[byte] as number;
      at(all, index)[byte] = (crc >>> 8) ^ (at(all, 0)[crc & 0xff] as number);
    }
  }
  return all;
}

function at(all: readonly Int32Array[], index: number): Int32Array {
  return all[index] as Int32Array;
}

const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** Checksum of `bytes` from `start` to `end`, unsigned. */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let crc = -1;
  let position = start;
  for (; position + 8 <= end; position += 8) {
    crc ^=
      (bytes[position] as number) |
      ((bytes[position + 1] as number) << 8) |
      ((bytes[position + 2] as number) << 16) |
      ((bytes[position + 3] as number) << 24);
    crc =
      (t7[crc & 0xff] as number) ^
      (t6[(crc >>> 8) & 0xff] as number) ^
      (t5[(crc >>> 16) & 0xff] as number) ^
      (t4[crc >>> 24] as number) ^
      (t3[bytes[position + 4] as number] as number) ^
      (t2[bytes[position + 5] as number] as number) ^
      (t1[bytes[position + 6] as number] as number) ^
      (t0[bytes[position + 7] as number] as number);
  }
  for (; position < end; position += 1) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[position] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
