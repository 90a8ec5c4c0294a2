/** The message in a dead letter, as its topic record would be: the raw bytes again, whole and inflated. */
import { createHash } from 'node:crypto';
import { isSluiceError, type SluiceError } from '../../core/errors.js';
import type { Decoder } from '../../gelf/contract.js';
import { compressionOf, type Inflater } from '../../receivers/inflate/contract.js';
import { trim } from '../../core/trim.js';
import type { ConsumedRecord, TopicLog } from '../../topics/contract.js';
import { deadLetterErrors } from './errors.js';
import { messageIdOf, textOf, type DeadLetter, type DeadLetterDocument } from './state.js';

export interface MessageContext {
  readonly topics: TopicLog;
  readonly decoder: Decoder;
  readonly inflater: Inflater;
  /** The setting `max_inflated_bytes` of a receiver. */
  readonly maxInflatedBytes: (receiver: string) => number;
}

export interface DeadLetterMessage {
  readonly record: ConsumedRecord;
  /** Before inflation. */
  readonly raw: Buffer;
}

/** Why it is no message; code and reason take the place of the dead letter's. */
export interface Unusable {
  readonly code: string;
  readonly reason: string;
}

export async function messageOf(
  deadLetter: DeadLetter,
  context: MessageContext,
): Promise<DeadLetterMessage | Unusable> {
  const { document } = deadLetter;
  const raw = await wholeRaw(deadLetter, context);
  if (!Buffer.isBuffer(raw)) return raw;
  const receiver = textOf(document, 'receiver');
  const value = inflate(raw, document, context, receiver);
  if (!Buffer.isBuffer(value)) return value;
  const parsed = context.decoder.parse(value);
  if ('error' in parsed) return unusable(parsed.error);
  if (parsed.extraDocuments) return unusable(deadLetterErrors.create('DEAD_LETTER_SEVERAL_MESSAGES'));
  const timestamp = Date.parse(textOf(document, 'receive_time'));
  const record: ConsumedRecord = {
    key: messageIdOf(deadLetter.id),
    value,
    timestamp,
    origin: `${receiver} ${textOf(document, 'peer')}`,
    offset: 0,
  };
  return { record, raw };
}

export function unusable(error: SluiceError): Unusable {
  return { code: error.code, reason: error.message };
}

function inflate(
  raw: Buffer,
  document: DeadLetterDocument,
  context: MessageContext,
  receiver: string,
): Buffer | Unusable {
  const compression = compressionOf(raw);
  if (compression === 'none') return trim(raw);
  // A chunk is part of a message: nothing can be learned anew from it.
  if (compression === 'chunk') return { code: textOf(document, 'code'), reason: textOf(document, 'message') };
  const inflated = context.inflater.inflate(raw, context.maxInflatedBytes(receiver));
  return isSluiceError(inflated) ? unusable(inflated) : trim(inflated);
}

/** What is longer than a dead letter keeps still lies in its topic, until that expires. */
async function wholeRaw(deadLetter: DeadLetter, context: MessageContext): Promise<Buffer | Unusable> {
  const { document } = deadLetter;
  const base64 = document['raw_base64'];
  const kept =
    typeof base64 === 'string' ? Buffer.from(base64, 'base64') : Buffer.from(textOf(document, 'raw'), 'utf8');
  if (document['raw_length'] === kept.length) return kept;
  const found = await readOrigin(textOf(document, 'origin'), context.topics);
  const hash = found === undefined ? '' : createHash('sha256').update(found.value).digest('hex');
  return found !== undefined && hash === document['raw_sha256']
    ? found.value
    : unusable(
        deadLetterErrors.create('DEAD_LETTER_TRUNCATED', {
          got: `${kept.length} of ${String(document['raw_length'])} bytes`,
        }),
      );
}

/** `topic/generation/partition/offset`. */
const originForm = /^(.+)\/(\d+)\/(\d+)\/(\d+)$/;

async function readOrigin(origin: string, topics: TopicLog): Promise<ConsumedRecord | undefined> {
  const [, topic = '', generation = '', partition = '', offset = ''] = originForm.exec(origin) ?? [];
  if (topic === '' || (await topics.generation(topic)) !== Number(generation)) return undefined;
  let record: ConsumedRecord | undefined;
  // Reading has no other end than the log's, or an error.
  const enough = new Error('enough');
  await topics
    .read(topic, Number(partition), Number(offset), (records) => {
      record = records.find((one) => one.offset === Number(offset));
      throw enough;
    })
    .catch((error: unknown) => {
      if (error !== enough && record === undefined) throw error;
    });
  return record;
}
