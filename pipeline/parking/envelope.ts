/**
 * A record of a parking topic (rule 8): key, timestamp and origin of the message as they were; the value is one line of
 * JSON, the header below, then the message's own value byte for byte.
 */
import { formatVersions } from '../../core/formats/versions.js';
import { assertVersion } from '../../core/formats/stamp.js';
import type { ConsumedRecord, TopicRecord } from '../../topics/contract.js';

/** Where a parked message came from, and the index that its epoch names. */
export interface ParkedHeader {
  readonly topic: string;
  readonly generation: number;
  readonly partition: number;
  readonly offset: number;
  readonly epoch: number;
  readonly index: string;
}

/** Names are 249 characters at the most, numbers 16 digits. */
export const largestHeaderBytes = 2_048;

const lineEnd = 0x0a;

export const parkingTopic = (prefix: string, indexSet: string): string => `${prefix}parking.${indexSet}`;
export const drainGroup = (group: string, indexSet: string): string => `${group}.parking.${indexSet}`;

export function parkedRecord(record: ConsumedRecord, header: ParkedHeader): TopicRecord {
  const { key, timestamp, origin } = record;
  return { key, timestamp, origin, value: Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), record.value]) };
}

/**
 * The header, and the message as it stood in its own topic; undefined for a record that is none of ours. Throws
 * FORMAT_NEWER for one of a newer program, which is not.
 */
export function unparkedRecord(
  record: ConsumedRecord,
): { readonly header: ParkedHeader; readonly record: ConsumedRecord } | undefined {
  const end = record.value.indexOf(lineEnd);
  const header = end < 0 ? undefined : parseHeader(record.value.toString('utf8', 0, end));
  if (header === undefined) return undefined;
  const { key, timestamp, origin } = record;
  return { header, record: { key, timestamp, origin, offset: header.offset, value: record.value.subarray(end + 1) } };
}

const numbers = ['generation', 'partition', 'offset', 'epoch'] as const;

function parseHeader(text: string): ParkedHeader | undefined {
  let header: (ParkedHeader & { readonly format?: unknown }) | null;
  try {
    header = JSON.parse(text) as typeof header;
  } catch {
    return undefined;
  }
  if (typeof header?.format === 'number')
    assertVersion(formatVersions.parkedRecord, header.format, 'header of a parked record');
  const fits =
    typeof header?.topic === 'string' &&
    typeof header.index === 'string' &&
    numbers.every((name) => Number.isSafeInteger(header[name]));
  return fits && header !== null ? header : undefined;
}
