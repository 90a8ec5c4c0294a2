/** GELF over HTTP: one message a request, or several, one a line. */
import type { GelfOutputSettings } from '../../../schemas/outputs/gelf.js';
import type { Encoder, OutputRecord } from '../contract.js';
import { nextOffsetOf, parcelEnd } from '../parcels.js';

/** Limit of one request with several messages. */
const maxRequestBytes = 1024 * 1024;
const space = 0x20;
const escapes: Readonly<Record<number, Buffer>> = { 0x0a: Buffer.from('\\n'), 0x0d: Buffer.from('\\r') };

/** JSON without line breaks: white space between tokens may go, within a text they are escaped. */
export function singleLine(value: Buffer): Buffer {
  if (value.indexOf(0x0a) < 0 && value.indexOf(0x0d) < 0) return value;
  const parts: Buffer[] = [];
  let inText = false;
  let from = 0;
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at] ?? 0;
    if (inText && byte === 0x5c) at += 1;
    else if (byte === 0x22) inText = !inText;
    const escaped = escapes[byte];
    if (escaped === undefined) continue;
    parts.push(value.subarray(from, at), inText ? escaped : Buffer.from([space]));
    from = at + 1;
  }
  parts.push(value.subarray(from));
  return Buffer.concat(parts);
}

export function createGelfRequestEncoder({ messages_per_request: perRequest }: GelfOutputSettings): Encoder {
  return {
    encode(records, from) {
      const to = parcelEnd(records, from, perRequest, maxRequestBytes);
      const parts = records
        .slice(from, to)
        .map(({ value }: OutputRecord) => (perRequest === 1 ? value : singleLine(value)));
      return {
        to,
        parcel: {
          parts,
          bytes: parts.reduce((sum, part) => sum + part.length, 0),
          messages: to - from,
          nextOffset: nextOffsetOf(records, to),
        },
      };
    },
  };
}
