/** Messages that people try rules with. */
import { createDecoder } from './decoder.js';
import type { LogDocument } from '../schemas/messages.js';

/** What only storage sets; rules run before it. */
const setLater = new Set(['_id', '_index', 'streams', 'rule_set_version', 'other_fields']);

/**
 * One message that somebody tries: GELF as a sender sends it, or a document as it is stored. Throws the decoder's
 * error.
 */
export function uploadedDocument(bytes: Buffer, receiver: string): LogDocument {
  const stored = storedDocument(bytes);
  if (stored !== undefined) return stored;
  const decoder = createDecoder();
  const parsed = decoder.parse(bytes);
  if ('error' in parsed) throw parsed.error;
  return decoder.toDocument(parsed, { receiver, peer: '127.0.0.1:0', receivedAt: Date.now(), timestamp: 'sender' });
}

/** A stored document has `source` and `message` where GELF has `host` and `short_message`; undefined: GELF. */
function storedDocument(bytes: Buffer): LogDocument | undefined {
  let root: unknown;
  try {
    root = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return undefined;
  const fields = Object.entries(root);
  const names = new Set(fields.map(([name]) => name));
  if (
    names.has('short_message') ||
    (names.has('host') && !names.has('receive_time')) ||
    !(names.has('source') || names.has('receive_time'))
  )
    return undefined;
  return Object.fromEntries(
    fields.filter(([name, value]) => !setLater.has(name) && isField(value)) as [string, LogDocument[string]][],
  );
}

function isField(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  );
}
