/**
 * Record batches of format 2 as the contract's records, without a step between. The grammar stands in
 * `record-batch.ts`.
 */
import { formatVersions } from '../../../core/formats/versions.js';
import { assertVersion } from '../../../core/formats/stamp.js';
import { idWidth, prefixWidth, sequenceIn } from '../../../core/message-ids.js';
import type { ConsumedRecord } from '../../contract.js';
import { topicErrors } from '../../errors.js';
import type { Codec } from './codecs.js';
import { crc32c } from './crc32c.js';

const lengthEnd = 12;
const batchHeaderBytes = 61;
const magicOffset = 16;
const crcOffset = 17;
const attributesOffset = 21;
const codecMask = 0x07;
const appendTimeFlag = 0x08;
const controlFlag = 0x20;
const nothing = Buffer.alloc(0);

export interface DecodedBatch {
  /** Empty for a control batch. */
  readonly records: readonly ConsumedRecord[];
  /** The last offset of the batch, whatever records it still has. */
  readonly lastOffset: number;
}

export type CodecByAttribute = (attribute: number) => Codec | undefined;

/** The whole batches in `bytes`; a last one that was cut off is left. Undefined when they are of an older format. */
export function decodeBatches(bytes: Buffer, codecOf: CodecByAttribute): DecodedBatch[] | undefined {
  const batches: DecodedBatch[] = [];
  let position = 0;
  while (position + batchHeaderBytes <= bytes.length) {
    const end = position + lengthEnd + bytes.readInt32BE(position + 8);
    if (end > bytes.length) break;
    if (bytes[position + magicOffset] !== 2) return undefined;
    batches.push(decodeBatch(bytes.subarray(position, end), codecOf));
    position = end;
  }
  return batches;
}

function decodeBatch(batch: Buffer, codecOf: CodecByAttribute): DecodedBatch {
  const baseOffset = Number(batch.readBigInt64BE(0));
  const attributes = batch.readInt16BE(attributesOffset);
  const lastOffset = baseOffset + batch.readInt32BE(23);
  if (batch.readUInt32BE(crcOffset) !== crc32c(batch, attributesOffset))
    throw topicErrors.create('TOPIC_FETCH_CORRUPT', { place: `offset ${baseOffset}` });
  if ((attributes & controlFlag) !== 0) return { records: [], lastOffset };
  const codec = codecOf(attributes & codecMask);
  const packed = batch.subarray(batchHeaderBytes);
  const reader = new RecordReader(codec === undefined ? packed : codec.decompress(packed));
  const firstTimestamp = Number(batch.readBigInt64BE(27));
  const appendTime = (attributes & appendTimeFlag) === 0 ? undefined : Number(batch.readBigInt64BE(35));
  const records: ConsumedRecord[] = [];
  for (let left = batch.readInt32BE(57); left > 0; left -= 1)
    records.push(reader.next(baseOffset, firstTimestamp, appendTime));
  return { records, lastOffset };
}

class RecordReader {
  readonly #bytes: Buffer;
  #position = 0;
  /** The same peer sends many records in a row: one string for all of them. */
  #originBytes: Buffer = nothing;
  #origin = '';
  /** As do the ids of a receiver: of the last one that began otherwise, and where its bytes are. */
  #idPrefix = '';
  #idStart = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(baseOffset: number, firstTimestamp: number, appendTime: number | undefined): ConsumedRecord {
    const length = this.#varint();
    const end = this.#position + length;
    this.#position += 1;
    const timestamp = appendTime ?? firstTimestamp + this.#varint();
    if (appendTime !== undefined) this.#varint();
    const offset = baseOffset + this.#varint();
    const keyLength = this.#varint();
    const keyStart = this.#position;
    if (keyLength > 0) this.#position += keyLength;
    const idSequence = keyLength === idWidth ? sequenceIn(this.#bytes, keyStart) : undefined;
    const value = this.#take();
    let origin = '';
    for (let headers = this.#varint(); headers > 0; headers -= 1) {
      const name = this.#take();
      const content = this.#take();
      if (origin !== '' || name === undefined || content === undefined) continue;
      if (isOrigin(name)) origin = this.#originOf(content);
      else assertOurs(name.toString('latin1'));
    }
    this.#position = end;
    const key = keyLength > 0 ? this.#bytes.toString('latin1', keyStart, keyStart + keyLength) : '';
    return {
      key,
      value: value ?? nothing,
      timestamp,
      origin,
      offset,
      idPrefix: idSequence === undefined ? undefined : this.#idPrefixOf(keyStart, key),
      idSequence,
    };
  }

  #idPrefixOf(start: number, key: string): string {
    const bytes = this.#bytes;
    let same = this.#idPrefix === '' ? 0 : prefixWidth;
    while (same > 0 && bytes[start + same - 1] === bytes[this.#idStart + same - 1]) same -= 1;
    if (same > 0 || this.#idPrefix === '') {
      this.#idPrefix = key.slice(0, prefixWidth);
      this.#idStart = start;
    }
    return this.#idPrefix;
  }

  #originOf(content: Buffer): string {
    if (!content.equals(this.#originBytes)) {
      this.#originBytes = content;
      this.#origin = content.toString('utf8');
    }
    return this.#origin;
  }

  #take(): Buffer | undefined {
    const length = this.#varint();
    if (length < 0) return undefined;
    const start = this.#position;
    this.#position = start + length;
    return this.#bytes.subarray(start, this.#position);
  }

  /** Zigzag. By multiplication beyond 28 bits: timestamps may be further apart. */
  #varint(): number {
    let byte = this.#bytes[this.#position] ?? 0;
    this.#position += 1;
    let value = byte & 0x7f;
    for (let factor = 128; byte > 0x7f; factor *= 128) {
      byte = this.#bytes[this.#position] ?? 0;
      this.#position += 1;
      value += (byte & 0x7f) * factor;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

const newerPrefix = 'origin.';

/**
 * A header of another name is a foreign producer's, or says that a newer program's record must not be read as one of
 * ours: throws FORMAT_NEWER.
 */
export function assertOurs(name: string): void {
  if (!name.startsWith(newerPrefix)) return;
  const version = Number(name.slice(newerPrefix.length));
  if (Number.isSafeInteger(version) && version > 0)
    assertVersion(formatVersions.topicRecord, version, 'header of a topic record');
}

function isOrigin(name: Buffer): boolean {
  return name.length === 6 && name.toString('latin1') === 'origin';
}
