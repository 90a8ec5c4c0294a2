/** Streams have two names: the id of the rule files, and 24 hexadecimal characters in the shape that scripts expect. */
import { createHash } from 'node:crypto';
import type { Stream } from './services.js';

const defaultStream = 'all-messages';
const defaultStreamHex = '000000000000000000000001';

const known = new Map<string, string>([[defaultStream, defaultStreamHex]]);
/** Streams there can be; the table only saves hashing. */
const maxKnown = 10_000;

/** Of an id that has this shape already, itself. */
export function streamHex(id: string): string {
  const kept = known.get(id);
  if (kept !== undefined) return kept;
  const hex = isObjectId(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 24);
  if (known.size < maxKnown) known.set(id, hex);
  return hex;
}

export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/i.test(text);
}

/** By either name. */
export function findStream(streams: readonly Stream[], key: string): Stream | undefined {
  return streams.find(({ id }) => id === key) ?? (isObjectId(key) ? streams.find(({ id }) => streamHex(id) === key.toLowerCase()) : undefined);
}
