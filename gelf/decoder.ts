import type { Decoder } from './contract.js';
import { createDocumentBuilder } from './document.js';
import { parseMessage } from './parse.js';

/** One decoder serves a whole process; it keeps nothing but bounded caches of field names and times. */
export function createDecoder(): Decoder {
  return { parse: parseMessage, toDocument: createDocumentBuilder() };
}
