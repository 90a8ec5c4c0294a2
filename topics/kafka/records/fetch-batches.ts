/**
 * Fetch, version 11, over kafkajs' connections, decoded by `decode-records.ts`: kafkajs' own decoder costs five times
 * as much a record. Whatever is out of the ordinary (an error code, aborted transactions, an older format) is left to
 * kafkajs.
 *
 * Request  => replicaId:int32 maxWait:int32 minBytes:int32 maxBytes:int32 isolation:int8 sessionId:int32
 * sessionEpoch:int32
 *   [topic:string [partition:int32 leaderEpoch:int32 offset:int64 logStart:int64 maxBytes:int32]] [forgotten]
 *   rack:string Response => throttle:int32 errorCode:int16 sessionId:int32 [topic:string [partition:int32
 *   errorCode:int16 highWatermark:int64
 *   lastStable:int64 logStart:int64 [producerId:int64 firstOffset:int64] preferredReplica:int32 records:bytes]]
 */
import type { FetchRequest, FetchResponse, RawBroker, RawMessage } from '../client/client.js';
import { decodeBatches, type CodecByAttribute, type DecodedBatch } from './decode-records.js';

const fetchKey = 1;
const fetchVersion = 11;

/** One record batch in the place of a message. */
interface BatchMessage extends RawMessage {
  readonly batch: DecodedBatch;
}

export function isBatchMessage(message: object): message is BatchMessage {
  return 'batch' in message;
}

/** Undefined when kafkajs must look at it. */
export async function fetchBatches(
  broker: RawBroker,
  request: FetchRequest,
  codecOf: CodecByAttribute,
): Promise<FetchResponse | undefined> {
  return broker.connectionPool.send<FetchResponse | undefined>({
    request: {
      apiKey: fetchKey,
      apiVersion: fetchVersion,
      apiName: 'Fetch',
      expectResponse: () => true,
      encode: async () => {
        const buffer = encodeFetch(request);
        return { buf: buffer, buffer };
      },
    },
    response: {
      decode: async (raw) => ({ clientSideThrottleTime: raw.readInt32BE(0), answer: decodeFetch(raw, codecOf) }),
      parse: async ({ answer }) => answer,
    },
  });
}

function int32(value: number): Buffer {
  const buffer = Buffer.allocUnsafe(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function text(value: string): Buffer {
  const bytes = Buffer.byteLength(value);
  const buffer = Buffer.allocUnsafe(2 + bytes);
  buffer.writeInt16BE(bytes);
  buffer.write(value, 2);
  return buffer;
}

function encodeFetch({ maxWaitTime, minBytes, maxBytes, isolationLevel, topics, rackId }: FetchRequest): Buffer {
  const parts = [
    int32(-1),
    int32(maxWaitTime),
    int32(minBytes),
    int32(maxBytes),
    Buffer.from([isolationLevel]),
    int32(0),
    int32(-1),
    int32(topics.length),
  ];
  for (const { topic, partitions } of topics) {
    parts.push(text(topic), int32(partitions.length));
    for (const { partition, fetchOffset, maxBytes: partitionBytes } of partitions) {
      const offsets = Buffer.allocUnsafe(16);
      offsets.writeBigInt64BE(BigInt(fetchOffset), 0);
      offsets.writeBigInt64BE(-1n, 8);
      parts.push(int32(partition), int32(-1), offsets, int32(partitionBytes));
    }
  }
  parts.push(int32(0), text(rackId));
  return Buffer.concat(parts);
}

type Partition = FetchResponse['responses'][number]['partitions'][number];

function decodeFetch(raw: Buffer, codecOf: CodecByAttribute): FetchResponse | undefined {
  if (raw.readInt16BE(4) !== 0) return undefined;
  const responses: { topicName: string; partitions: Partition[] }[] = [];
  let position = 14;
  for (let topics = raw.readInt32BE(10); topics > 0; topics -= 1) {
    const nameEnd = position + 2 + raw.readInt16BE(position);
    const topicName = raw.toString('utf8', position + 2, nameEnd);
    const partitions: Partition[] = [];
    position = nameEnd + 4;
    for (let left = raw.readInt32BE(nameEnd); left > 0; left -= 1) {
      const decoded = decodePartition(raw, position, codecOf);
      if (decoded === undefined) return undefined;
      partitions.push(decoded.partition);
      position = decoded.end;
    }
    responses.push({ topicName, partitions });
  }
  return { responses };
}

function decodePartition(
  raw: Buffer,
  start: number,
  codecOf: CodecByAttribute,
): { partition: Partition; end: number } | undefined {
  const abortedCount = raw.readInt32BE(start + 30);
  if (raw.readInt16BE(start + 4) !== 0 || abortedCount > 0) return undefined;
  const recordsStart = start + 42;
  const end = recordsStart + Math.max(0, raw.readInt32BE(start + 38));
  const batches = decodeBatches(raw.subarray(recordsStart, end), codecOf);
  if (batches === undefined) return undefined;
  const messages = batches.map(
    (batch): BatchMessage => ({
      offset: String(batch.lastOffset),
      key: nothing,
      value: null,
      timestamp: '0',
      isControlRecord: false,
      batch,
    }),
  );
  const partition = {
    partition: raw.readInt32BE(start),
    errorCode: 0,
    highWatermark: raw.readBigInt64BE(start + 6).toString(),
    abortedTransactions: [],
    preferredReadReplica: raw.readInt32BE(start + 34),
    messages,
  };
  return { partition, end };
}

const nothing = Buffer.alloc(0);
