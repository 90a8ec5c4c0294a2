/** GELF over TCP: the messages as they are, each ended by a NUL byte. */
import { at } from '../../../core/at.js';
import type { Encoder } from '../contract.js';
import { nextOffsetOf, parcelEnd } from '../parcels.js';

const nul = 0;
const escapedNul = Buffer.from('\\u0000');

/**
 * A raw NUL can only stand within a text (some senders write it there); the destination would take it for the end of
 * the message.
 */
function withoutNul(value: Buffer): Buffer {
  if (value.indexOf(nul) < 0) return value;
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = value.indexOf(nul); at >= 0; at = value.indexOf(nul, from)) {
    parts.push(value.subarray(from, at), escapedNul);
    from = at + 1;
  }
  parts.push(value.subarray(from));
  return Buffer.concat(parts);
}

export function createGelfStreamEncoder(): Encoder {
  return {
    encode(records, from) {
      const to = parcelEnd(records, from);
      const values: Buffer[] = [];
      let bytes = 0;
      for (let index = from; index < to; index += 1) {
        const value = withoutNul(at(records, index).value);
        values.push(value);
        bytes += value.length + 1;
      }
      const frames = Buffer.allocUnsafeSlow(bytes);
      let place = 0;
      for (const value of values) {
        frames.set(value, place);
        place += value.length;
        frames[place] = nul;
        place += 1;
      }
      return { to, parcel: { parts: [frames], bytes, messages: to - from, nextOffset: nextOffsetOf(records, to) } };
    },
  };
}
