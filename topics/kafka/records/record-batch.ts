/**
 * Records as Kafka's record batch of format 2 and as a Produce request of version 7, each written once into one buffer.
 * kafkajs' own encoder makes three buffers a record and copies the list of records for every record of it.
 *
 * Record => length:varint attributes:int8 timestampDelta:varlong offsetDelta:varint key:varint-bytes value:varint-bytes
 * headers:[key value] Batch  => baseOffset:int64 length:int32 leaderEpoch:int32 magic:int8 crc:uint32 attributes:int16
 * lastOffsetDelta:int32
 *           firstTimestamp:int64 maxTimestamp:int64 producerId:int64 producerEpoch:int16 baseSequence:int32 [record]
 * Grammar: https://kafka.apache.org/documentation/#messageformat
 */
import { at } from '../../../core/at.js';
import type { TopicRecord } from '../../contract.js';
import { crc32c } from './crc32c.js';
import type { Codec } from './codecs.js';

const originKey = 'origin';
/** Lengths, deltas and the header's name at their longest. */
const recordOverheadBytes = 48;
const batchHeaderBytes = 61;
const crcOffset = 17;

/** Bytes that a record takes in a batch at the most. */
export function recordBytes(record: TopicRecord): number {
  return record.value.length + record.key.length + record.origin.length * 3 + recordOverheadBytes;
}

function writeVarint(buffer: Buffer, start: number, value: number): number {
  let position = start;
  let zigzag = value >= 0 ? value * 2 : -value * 2 - 1;
  while (zigzag > 0x7f) {
    buffer[position] = (zigzag & 0x7f) | 0x80;
    position += 1;
    zigzag = zigzag > 0xffff_ffff ? Math.floor(zigzag / 128) : zigzag >>> 7;
  }
  buffer[position] = zigzag;
  return position + 1;
}

function varintBytes(value: number): number {
  let zigzag = value >= 0 ? value * 2 : -value * 2 - 1;
  let bytes = 1;
  while (zigzag > 0x7f) {
    bytes += 1;
    zigzag = Math.floor(zigzag / 128);
  }
  return bytes;
}

/** Writes the records of one batch one behind the other. */
class RecordWriter {
  readonly #buffer: Buffer;
  readonly #firstTimestamp: number;
  #position = 0;
  #offsetDelta = 0;

  constructor(buffer: Buffer, firstTimestamp: number) {
    this.#buffer = buffer;
    this.#firstTimestamp = firstTimestamp;
  }

  /** Written so far. */
  get bytes(): number {
    return this.#position;
  }

  write(record: TopicRecord): void {
    const { key, value, origin } = record;
    const buffer = this.#buffer;
    const offsetDelta = this.#offsetDelta;
    const timestampDelta = record.timestamp - this.#firstTimestamp;
    const originBytes = Buffer.byteLength(origin);
    const length =
      1 +
      varintBytes(timestampDelta) +
      varintBytes(offsetDelta) +
      varintBytes(key.length) +
      key.length +
      varintBytes(value.length) +
      value.length +
      1 +
      1 +
      originKey.length +
      varintBytes(originBytes) +
      originBytes;
    let position = writeVarint(buffer, this.#position, length);
    buffer[position] = 0;
    position = writeVarint(buffer, position + 1, timestampDelta);
    position = writeVarint(buffer, position, offsetDelta);
    position = writeVarint(buffer, position, key.length);
    position += buffer.write(key, position, 'latin1');
    position = writeVarint(buffer, position, value.length);
    position += value.copy(buffer, position);
    position = writeVarint(buffer, position, 1);
    position = writeVarint(buffer, position, originKey.length);
    position += buffer.write(originKey, position, 'latin1');
    position = writeVarint(buffer, position, originBytes);
    this.#position = position + buffer.write(origin, position);
    this.#offsetDelta += 1;
  }
}

export interface EncodedRecords {
  readonly count: number;
  readonly firstTimestamp: number;
  readonly maxTimestamp: number;
  readonly attribute: number;
  /** The records, compressed when a codec was given. */
  readonly bytes: Buffer;
}

/** Encodes a non-empty run of records whose sizes add up to `size` by `recordBytes`. */
export function encodeRecords(records: readonly TopicRecord[], size: number, codec: Codec | undefined): EncodedRecords {
  const buffer = Buffer.allocUnsafe(size);
  const firstTimestamp = at(records, 0).timestamp;
  let maxTimestamp = firstTimestamp;
  const writer = new RecordWriter(buffer, firstTimestamp);
  for (const record of records) {
    if (record.timestamp > maxTimestamp) maxTimestamp = record.timestamp;
    writer.write(record);
  }
  const plain = buffer.subarray(0, writer.bytes);
  return {
    count: records.length,
    firstTimestamp,
    maxTimestamp,
    attribute: codec?.attribute ?? 0,
    bytes: codec === undefined ? plain : codec.compress(plain),
  };
}

export interface ProducerState {
  readonly id: bigint;
  readonly epoch: number;
  readonly sequence: number;
}

/** Sequences wrap within 31 bits, as the broker expects. */
export function nextSequence(sequence: number, count: number): number {
  return (sequence + count) % 2 ** 31;
}

/**
 * Produce v7 => transactionalId:nullable-string acks:int16 timeout:int32 [topic:string [partition:int32
 * records:bytes]], here with one topic, one partition, one batch, acks=all.
 */
export function encodeProduce(
  target: { topic: string; partition: number; timeoutMs: number },
  records: EncodedRecords,
  producer: ProducerState,
): Buffer {
  const name = Buffer.byteLength(target.topic);
  const batchBytes = batchHeaderBytes + records.bytes.length;
  const buffer = Buffer.allocUnsafe(26 + name + batchBytes);
  let position = buffer.writeInt16BE(-1, 0);
  position = buffer.writeInt16BE(-1, position);
  position = buffer.writeInt32BE(target.timeoutMs, position);
  position = buffer.writeInt32BE(1, position);
  position = buffer.writeInt16BE(name, position);
  position += buffer.write(target.topic, position);
  position = buffer.writeInt32BE(1, position);
  position = buffer.writeInt32BE(target.partition, position);
  position = buffer.writeInt32BE(batchBytes, position);
  writeBatch(buffer, position, records, producer);
  return buffer;
}

function writeBatch(buffer: Buffer, start: number, records: EncodedRecords, producer: ProducerState): void {
  let position = buffer.writeBigInt64BE(0n, start);
  position = buffer.writeInt32BE(batchHeaderBytes - 12 + records.bytes.length, position);
  position = buffer.writeInt32BE(-1, position);
  position = buffer.writeInt8(2, position);
  position = buffer.writeUInt32BE(0, position);
  position = buffer.writeInt16BE(records.attribute, position);
  position = buffer.writeInt32BE(records.count - 1, position);
  position = buffer.writeBigInt64BE(BigInt(records.firstTimestamp), position);
  position = buffer.writeBigInt64BE(BigInt(records.maxTimestamp), position);
  position = buffer.writeBigInt64BE(producer.id, position);
  position = buffer.writeInt16BE(producer.epoch, position);
  position = buffer.writeInt32BE(producer.sequence, position);
  position = buffer.writeInt32BE(records.count, position);
  position += records.bytes.copy(buffer, position);
  buffer.writeUInt32BE(crc32c(buffer, start + crcOffset + 4, position), start + crcOffset);
}
