/**
 * The id that Kafka gives a topic when it is made, as a number. kafkajs speaks Metadata up to version 6; ids come with
 * version 10 (Kafka 2.8), which is flexible: request header 2 and response header 1 each end in a byte of tagged
 * fields, lengths are varints plus one. Grammar: https://kafka.apache.org/protocol#The_Messages_Metadata
 */
import type { Kafka } from 'kafkajs';
import { topicErrors } from '../../errors.js';
import { anyBroker, createCluster } from './client.js';

const metadataKey = 3;
const metadataVersion = 10;
const unknownTopicCode = 3;
/** 48 bits of the id: exact in a number, and as random as an id need be to tell two topics of one name apart. */
const idBytes = 6;

/** 0 when the brokers are too old to know. */
export async function topicGeneration(kafka: Kafka, topic: string): Promise<number> {
  const cluster = createCluster(kafka);
  try {
    await cluster.connect();
    await cluster.refreshMetadataIfNecessary();
    const broker = await anyBroker(cluster);
    if ((broker.versions?.[metadataKey]?.maxVersion ?? 0) < metadataVersion) return 0;
    const { code, id } = await broker.connectionPool.send({
      request: {
        apiKey: metadataKey,
        apiVersion: metadataVersion,
        apiName: 'Metadata',
        expectResponse: () => true,
        encode: async () => encodeRequest(topic),
      },
      response: {
        decode: async (raw) => ({ clientSideThrottleTime: 0, answer: decodeResponse(raw) }),
        parse: async ({ answer }) => answer,
      },
    });
    if (code === unknownTopicCode) throw topicErrors.create('TOPIC_UNKNOWN', { place: topic });
    return id;
  } finally {
    cluster.disconnect().catch(() => undefined);
  }
}

/**
 * tags [topicId:uuid name:compact-nullable-string tags] allowAutoTopicCreation:bool includeClusterOperations:bool
 * includeTopicOperations:bool tags
 */
function encodeRequest(topic: string): { buf: Buffer; buffer: Buffer } {
  const name = Buffer.from(topic);
  const buffer = Buffer.concat([
    Buffer.from([0, 2]),
    Buffer.alloc(16),
    unsignedVarint(name.length + 1),
    name,
    Buffer.from([0, 0, 0, 0, 0]),
  ]);
  return { buf: buffer, buffer };
}

function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  bytes.push(left);
  return Buffer.from(bytes);
}

/**
 * tags throttle:int32 brokers:[nodeId:int32 host:string port:int32 rack:nullable-string tags] clusterId:nullable-string
 * controllerId:int32 topics:[errorCode:int16 name:nullable-string topicId:uuid ...]
 */
function decodeResponse(raw: Buffer): { code: number; id: number } {
  let position = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = raw[position] ?? 0;
      position += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const skipString = (): void => {
    const length = varint() - 1;
    position += Math.max(0, length);
  };
  const skipTags = (): void => {
    for (let count = varint(); count > 0; count -= 1) {
      varint();
      const length = varint();
      position += length;
    }
  };
  skipTags();
  position += 4;
  for (let brokers = varint() - 1; brokers > 0; brokers -= 1) {
    position += 4;
    skipString();
    position += 4;
    skipString();
    skipTags();
  }
  skipString();
  position += 4;
  if (varint() - 1 < 1) return { code: unknownTopicCode, id: 0 };
  const code = raw.readInt16BE(position);
  position += 2;
  skipString();
  return { code, id: raw.readUIntBE(position, idBytes) };
}
