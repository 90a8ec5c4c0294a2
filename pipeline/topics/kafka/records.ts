/** What kafkajs decoded, as the contract's records. */
import type { ConsumedRecord } from '../contract.js';
import type { RawMessage } from './client.js';

const nothing = Buffer.alloc(0);
/** The same few peers come again and again: one string each instead of one a record. */
const maxOrigins = 1_000;
const origins = new Map<string, string>();

function originOf(message: RawMessage): string {
  const header = message.headers?.['origin'];
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  const raw = value.toString('latin1');
  let origin = origins.get(raw);
  if (origin === undefined) {
    origin = value.toString('utf8');
    if (origins.size >= maxOrigins) origins.clear();
    origins.set(raw, origin);
  }
  return origin;
}

export function consumedRecord(message: RawMessage): ConsumedRecord {
  return {
    key: message.key === null ? '' : message.key.toString('latin1'),
    value: message.value ?? nothing,
    timestamp: Number(message.timestamp),
    origin: originOf(message),
    offset: Number(message.offset),
  };
}

/** For bounds of bytes. */
export function consumedBytes(record: ConsumedRecord): number {
  return record.value.length;
}
