/** CRC-32C (Castagnoli), eight bytes a step: what Kafka's record batches are sealed with. Node.js has only CRC-32. */
import { at } from '../../../core/at.js';

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
      const crc = at(all, index - 1)[byte] ?? 0;
      at(all, index)[byte] = (crc >>> 8) ^ (at(all, 0)[crc & 0xff] ?? 0);
    }
  }
  return all;
}

const t0 = at(tables, 0);
const t1 = at(tables, 1);
const t2 = at(tables, 2);
const t3 = at(tables, 3);
const t4 = at(tables, 4);
const t5 = at(tables, 5);
const t6 = at(tables, 6);
const t7 = at(tables, 7);

/** Checksum of `bytes` from `start` to `end`, unsigned. */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let crc = -1;
  let position = start;
  for (; position + 8 <= end; position += 8) {
    crc ^=
      (bytes[position] ?? 0) |
      ((bytes[position + 1] ?? 0) << 8) |
      ((bytes[position + 2] ?? 0) << 16) |
      ((bytes[position + 3] ?? 0) << 24);
    crc =
      (t7[crc & 0xff] ?? 0) ^
      (t6[(crc >>> 8) & 0xff] ?? 0) ^
      (t5[(crc >>> 16) & 0xff] ?? 0) ^
      (t4[crc >>> 24] ?? 0) ^
      (t3[bytes[position + 4] ?? 0] ?? 0) ^
      (t2[bytes[position + 5] ?? 0] ?? 0) ^
      (t1[bytes[position + 6] ?? 0] ?? 0) ^
      (t0[bytes[position + 7] ?? 0] ?? 0);
  }
  for (; position < end; position += 1) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[position] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}
