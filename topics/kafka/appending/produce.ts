/** One Produce request over a connection of kafkajs: one batch to one partition, acks=all. */
import type { RawBroker } from '../client/client.js';

const produceKey = 0;
const produceVersion = 7;

/**
 * Resolves with the partition's error code, 0 when the batch is on every in-sync replica. Rejects when no answer came.
 */
export async function produce(broker: RawBroker, request: Buffer): Promise<number> {
  return broker.connectionPool.send<number>({
    request: {
      apiKey: produceKey,
      apiVersion: produceVersion,
      apiName: 'Produce',
      expectResponse: () => true,
      encode: async () => ({ buf: request, buffer: request }),
    },
    response: { decode: async (raw) => decodeProduced(raw), parse: async ({ answer }) => answer },
  });
}

/**
 * Produce response v7 => [topic:string [partition:int32 errorCode:int16 baseOffset:int64 logAppendTime:int64
 * logStartOffset:int64]] throttleTime:int32, with one topic and one partition.
 */
function decodeProduced(raw: Buffer): { clientSideThrottleTime: number; answer: number } {
  const name = 4 + 2 + raw.readInt16BE(4);
  const answer = raw.readInt16BE(name + 4 + 4);
  return { clientSideThrottleTime: raw.readInt32BE(raw.length - 4), answer };
}

/** What an error code asks for. Codes not listed are waited for: an operator may still cure them. */
type Verdict = 'done' | 'wait' | 'new-leader' | 'new-producer' | 'too-large' | 'unknown-partition' | 'invalid';

const verdicts: Readonly<Record<number, readonly [Verdict, string]>> = {
  0: ['done', 'NONE'],
  2: ['wait', 'CORRUPT_MESSAGE'],
  3: ['unknown-partition', 'UNKNOWN_TOPIC_OR_PARTITION'],
  5: ['new-leader', 'LEADER_NOT_AVAILABLE'],
  6: ['new-leader', 'NOT_LEADER_FOR_PARTITION'],
  7: ['wait', 'REQUEST_TIMED_OUT'],
  10: ['too-large', 'MESSAGE_TOO_LARGE'],
  17: ['unknown-partition', 'INVALID_TOPIC_EXCEPTION'],
  18: ['too-large', 'RECORD_LIST_TOO_LARGE'],
  19: ['wait', 'NOT_ENOUGH_REPLICAS'],
  20: ['wait', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'],
  29: ['wait', 'TOPIC_AUTHORIZATION_FAILED'],
  // The topic takes only times near the broker's own (message.timestamp.after.max.ms): a clock is wrong, or an operator
  // can widen it.
  32: ['wait', 'INVALID_TIMESTAMP'],
  45: ['new-producer', 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
  // More than the last five batches ago: ours is only ever the last one, so the numbering is broken.
  46: ['new-producer', 'DUPLICATE_SEQUENCE_NUMBER'],
  47: ['new-producer', 'INVALID_PRODUCER_EPOCH'],
  49: ['new-producer', 'INVALID_PRODUCER_ID_MAPPING'],
  56: ['new-leader', 'KAFKA_STORAGE_ERROR'],
  59: ['new-producer', 'UNKNOWN_PRODUCER_ID'],
  74: ['new-leader', 'FENCED_LEADER_EPOCH'],
  87: ['invalid', 'INVALID_RECORD'],
  90: ['new-producer', 'PRODUCER_FENCED'],
};

export function verdictOf(code: number): { readonly verdict: Verdict; readonly name: string } {
  const [verdict, name] = verdicts[code] ?? ['wait', `error code ${code}`];
  return { verdict, name };
}
