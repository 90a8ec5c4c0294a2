/** Dead letters: what could not be decoded, and documents that the store refuses for good, with their raw bytes. */
import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { DeadLetter, Refusal } from '../schemas/messages.js';

/** Of an oversize value the head is kept; its length and SHA-256 tell the rest. */
export const maxKeptBytes = 64 * 1024;

function rawPart(raw: Buffer, length: number): Pick<DeadLetter, 'raw' | 'raw_base64' | 'raw_length' | 'raw_sha256'> {
  const head = raw.length > maxKeptBytes ? raw.subarray(0, maxKeptBytes) : raw;
  const hash = createHash('sha256').update(raw).digest('hex');
  const text = isUtf8(head) ? { raw: head.toString('utf8') } : { raw_base64: head.toString('base64') };
  return { ...text, raw_length: length, raw_sha256: hash };
}

export function refusalDeadLetter(refusal: Refusal): DeadLetter {
  return {
    code: refusal.code,
    reason: refusal.reason,
    receiver: refusal.receiver,
    peer: refusal.peer,
    receive_time: new Date(refusal.receivedAt).toISOString(),
    state: 'open',
    replays: 0,
    ...rawPart(refusal.raw, refusal.rawLength),
  };
}

export interface RefusedDocument {
  readonly code: string;
  readonly reason: string;
  readonly receiver: string;
  readonly peer: string;
  readonly receivedAt: number;
  readonly indexSet: string;
  readonly index: string;
  readonly origin: string;
  readonly raw: Buffer;
  /** Of a message that was replayed before, and refused by one of its index sets. */
  readonly replays?: number;
}

export function documentDeadLetter(refused: RefusedDocument): DeadLetter {
  return {
    code: refused.code,
    reason: refused.reason,
    receiver: refused.receiver,
    peer: refused.peer,
    receive_time: new Date(refused.receivedAt).toISOString(),
    index_set: refused.indexSet,
    index: refused.index,
    origin: refused.origin,
    state: 'open',
    replays: refused.replays ?? 0,
    ...rawPart(refused.raw, refused.raw.length),
  };
}
