/**
 * Dead letters: input that could not be decoded, and documents that the store refuses for good, with their raw bytes.
 */
import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { DeadLetter, Refusal } from '../schemas/messages.js';
import type { TopicRecord } from '../topics/contract.js';
import { deadLetterId } from '../core/message-ids.js';
import { parseOrigin } from './origin.js';

/** Of an oversize value the head is stored; its length and SHA-256 tell the rest. */
export const maxRawBytes = 64 * 1024;

function rawPart(raw: Buffer, length: number): Pick<DeadLetter, 'raw' | 'raw_base64' | 'raw_length' | 'raw_sha256'> {
  const head = raw.length > maxRawBytes ? raw.subarray(0, maxRawBytes) : raw;
  const hash = createHash('sha256').update(raw).digest('hex');
  const text = isUtf8(head) ? { raw: head.toString('utf8') } : { raw_base64: head.toString('base64') };
  return { ...text, raw_length: length, raw_sha256: hash };
}

/** Of input that never became a message. */
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

interface Refused {
  /** The message. Its key, or another text that is the same with every redelivery. */
  readonly key: string;
  readonly record: TopicRecord;
  /** Raw bytes where they are not the record's own: those of a message that came compressed. */
  readonly raw?: Buffer;
  readonly code: string;
  readonly reason: string;
  /** Both empty for a record that is no message. */
  readonly indexSet: string;
  readonly index: string;
  /** See `recordOrigin`. */
  readonly origin: string;
  /** Replays of the message so far that failed. */
  readonly replays?: number;
}

/** Of a document that an index set refused: a record for the topic of the dead letters. */
export function deadLetterRecord(refused: Refused): TopicRecord {
  const { record, indexSet, index, origin } = refused;
  const { receiver, peer } = parseOrigin(record.origin);
  const deadLetter: DeadLetter = {
    code: refused.code,
    reason: refused.reason,
    receiver,
    peer,
    receive_time: new Date(record.timestamp).toISOString(),
    index_set: indexSet,
    index,
    origin,
    state: 'open',
    replays: refused.replays ?? 0,
    ...rawPart(refused.raw ?? record.value, (refused.raw ?? record.value).length),
  };
  return {
    key: deadLetterId(refused.key, indexSet),
    value: Buffer.from(JSON.stringify(deadLetter)),
    timestamp: record.timestamp,
    origin: record.origin,
  };
}

export interface PartitionName {
  readonly topic: string;
  /** Of the topic. */
  readonly generation: number;
  readonly partition: number;
}

/** Where a dead letter's record stands, as `origin` in it says. */
export function recordOrigin({ topic, generation, partition }: PartitionName, offset: number): string {
  return `${topic}/${generation}/${partition}/${offset}`;
}
