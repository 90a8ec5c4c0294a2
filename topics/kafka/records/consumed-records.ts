/** What kafkajs decoded, as the contract's records. */
import type { ConsumedRecord } from '../../contract.js';
import type { RawMessage } from '../client/client.js';
import { assertOurs } from './decode-records.js';
import { isBatchMessage } from './fetch-batches.js';

const nothing = Buffer.alloc(0);
/** The same few peers come again and again: one string each instead of one a record. */
const maxOrigins = 1_000;
const origins = new Map<string, string>();

function originOf(message: RawMessage): string {
  const header = message.headers?.['origin'];
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined || value === null) {
    for (const name of Object.keys(message.headers ?? {})) assertOurs(name);
    return '';
  }
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

/** What was fetched, as one run of records. */
export interface FetchedRun {
  readonly records: readonly ConsumedRecord[];
  /** After the last record, and after control records that follow it. */
  readonly nextOffset: number;
}

/** Undefined when nothing was fetched. A batch may begin before the position that was asked for. */
export function fetchedRun(messages: readonly RawMessage[], from: number): FetchedRun | undefined {
  const last = messages.at(-1);
  if (last === undefined) return undefined;
  const records: ConsumedRecord[] = [];
  for (const message of messages) {
    const found = isBatchMessage(message)
      ? message.batch.records
      : message.isControlRecord === true
        ? []
        : [consumedRecord(message)];
    for (const record of found) if (record.offset >= from) records.push(record);
  }
  return { records, nextOffset: Math.max(from, Number(last.offset) + 1) };
}

/** For bounds of bytes. */
export function consumedBytes(record: ConsumedRecord): number {
  return record.value.length;
}
