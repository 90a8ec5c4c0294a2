import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { idPrefix, idWidth, mintId, prefixWidth, sequenceOf } from '../../../core/message-ids.js';
import { checkResends } from '../../../pipeline/delivery/sequences.js';
import type { TopicRecord } from '../../../topics/contract.js';
import { codecByAttribute, loadCodecs, type Compression } from '../../../topics/kafka/records/codecs.js';
import { crc32c } from '../../../topics/kafka/records/crc32c.js';
import { decodeBatches } from '../../../topics/kafka/records/decode-records.js';
import { encodeProduce, encodeRecords, nextSequence, recordBytes } from '../../../topics/kafka/records/record-batch.js';
import { createKafkaTopicLog } from '../../../topics/kafka.js';
import { kafkaBrokers, skipWithoutKafka } from '../../engines.js';
import { createRecords, readAll, topicSpec } from '../collect.js';

const compressions: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const readable = ({ key, value, timestamp, origin }: TopicRecord) => ({
  key,
  value: value.toString('hex'),
  timestamp,
  origin,
});

/** The batch within a Produce request of ours: what stands after topic, partition and length. */
async function encodeBatch(records: readonly TopicRecord[], compression: Compression): Promise<Buffer> {
  const size = records.reduce((sum, record) => sum + recordBytes(record), 0);
  const encoded = encodeRecords(records, size, (await loadCodecs()).get(compression));
  return encodeProduce({ topic: 'logs', partition: 3, timeoutMs: 1000 }, encoded, {
    id: 77n,
    epoch: 1,
    sequence: 5,
  }).subarray(26 + 'logs'.length);
}

t.test('the checksum is the one of RFC 3720, at every length and alignment', async (test) => {
  test.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  test.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  test.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
  test.equal(crc32c(Buffer.from('xx123456789y'), 2, 11), 0xe3069283);
});

t.test('sequences wrap within 31 bits', async (test) => {
  test.equal(nextSequence(0, 5), 5);
  test.equal(nextSequence(2 ** 31 - 1, 1), 0);
  test.equal(nextSequence(2 ** 31 - 2, 5), 3);
});

t.test(
  'the parts of ids are read together with them, of any receivers in any order, and of no other keys',
  async (test) => {
    const codecOf = codecByAttribute(await loadCodecs());
    const prefixes = [
      idPrefix('0192aabbccdd01234567', 3),
      idPrefix('0192aabbccdd01234567', 4),
      idPrefix('0192aabbccde89abcdef', 3),
    ];
    const id = fc
      .tuple(fc.constantFrom(...prefixes), fc.integer({ min: 0, max: 2 ** 40 - 1 }))
      .map(([prefix, sequence]) => mintId(prefix, sequence));
    const nearly = fc
      .tuple(id, fc.nat({ max: idWidth - 1 }), fc.constantFrom('g', 'A', '-', ' '))
      .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));
    const key = fc.oneof({ weight: 8, arbitrary: id }, nearly, fc.stringMatching(/^[ -~]{1,40}$/));
    await test.resolves(
      fc.assert(
        fc.asyncProperty(fc.array(key, { minLength: 1, maxLength: 40 }), async (keys) => {
          const batch = await encodeBatch(
            keys.map((one) => ({ key: one, value: Buffer.from('{}'), timestamp: 1, origin: 'x' })),
            'none',
          );
          const records = decodeBatches(batch, codecOf)?.[0]?.records ?? [];
          const wanted = keys.map((one) => [
            one,
            sequenceOf(one),
            sequenceOf(one) === undefined ? undefined : one.slice(0, prefixWidth),
          ]);
          if (JSON.stringify(records.map((one) => [one.key, one.idSequence, one.idPrefix])) !== JSON.stringify(wanted))
            throw new Error('differs');
          const known = new Map([[prefixes[0] as string, 2 ** 39]]);
          const [withParts, without] = [
            checkResends(records, known),
            checkResends(
              keys.map((one) => ({ key: one })),
              known,
            ),
          ];
          if (
            JSON.stringify([...withParts.resent, ...withParts.after, withParts.missing]) !==
            JSON.stringify([...without.resent, ...without.after, without.missing])
          )
            throw new Error('judged differently');
        }),
        { seed: 20261122, numRuns: 500 },
      ),
    );
  },
);

t.test('any records survive encoding and decoding with every codec', async (test) => {
  const codecOf = codecByAttribute(await loadCodecs());
  const record = fc.record({
    key: fc.stringMatching(/^[ -~]{1,255}$/),
    value: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    timestamp: fc.integer({ min: 0, max: 4_102_444_800_000 }),
    origin: fc.string({ unit: 'binary', maxLength: 60 }),
  });
  for (const compression of compressions) {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 30 }), async (records) => {
        const batch = await encodeBatch(records, compression);
        const [decoded, ...others] = decodeBatches(Buffer.concat([batch, batch.subarray(0, 40)]), codecOf) ?? [];
        test.equal(others.length, 0);
        if (JSON.stringify(decoded?.records.map(readable)) !== JSON.stringify(records.map(readable)))
          throw new Error('differs');
        if (decoded?.lastOffset !== records.length - 1) throw new Error('last offset differs');
      }),
      { seed: 20261121, numRuns: 60 },
    );
  }
});

t.test('a changed byte is noticed', async (test) => {
  const batch = await encodeBatch(createRecords(0, 5), 'lz4');
  batch[batch.length - 3] = (batch.at(-3) as number) ^ 1;
  test.throws(() => decodeBatches(batch, () => undefined), { code: 'TOPIC_FETCH_CORRUPT', retryable: true });
});

t.test('snappy framed as Java peers do is read', async (test) => {
  const snappy = (await loadCodecs()).get('snappy');
  const blocks = [Buffer.from('first block, first block, first block'), Buffer.from('second')];
  const framed = blocks.flatMap((block) => {
    const packed = snappy?.compress(block) as Buffer;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(packed.length);
    return [length, packed];
  });
  const stream = Buffer.concat([
    Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]),
    ...framed,
  ]);
  test.same(snappy?.decompress(stream), Buffer.concat(blocks));
});

t.test('kafkajs and we read each other', { ...skipWithoutKafka(), timeout: 60_000 }, async (test) => {
  await loadCodecs();
  const brokers = kafkaBrokers()?.split(',') ?? [];
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  for (const [attribute, compression] of compressions.entries()) {
    const topic = `test-records-${randomBytes(6).toString('hex')}`;
    const log = createKafkaTopicLog({ brokers, compression, log: silentLog, registry: new Registry() });
    await log.start();
    await log.ensureTopics([topicSpec(topic)]);
    const [ours, theirs] = [createRecords(0, 20), createRecords(20, 20)];
    await log.append(topic, 0, ours);
    const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    await producer.send({
      topic,
      compression: attribute,
      messages: theirs.map(({ key, value, timestamp, origin }) => ({
        key,
        value,
        partition: 0,
        timestamp: String(timestamp),
        headers: { other: 'x', origin },
      })),
    });
    await producer.send({
      topic,
      messages: [
        { value: 'neither key nor origin', partition: 0 },
        { key: 'deleted', value: null, partition: 0 },
      ],
    });
    const found = await readAll(log, topic);
    test.same(found.slice(0, 40).map(readable), [...ours, ...theirs].map(readable), `${compression}: we read both`);
    test.match(found.slice(40), [
      { key: '', origin: '', value: Buffer.from('neither key nor origin') },
      { key: 'deleted', value: Buffer.alloc(0) },
    ]);
    test.same(await readWithKafkajs(kafka, topic, 20), ours.map(readable), `${compression}: kafkajs reads ours`);
    await producer.disconnect();
    await log.stop(1000);
    const admin = kafka.admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [topic] });
    await admin.deleteGroups([`${topic}-group`]).catch(() => undefined);
    await admin.disconnect();
  }
});

async function readWithKafkajs(
  kafka: kafkajs.Kafka,
  topic: string,
  count: number,
): Promise<ReturnType<typeof readable>[]> {
  const consumer = kafka.consumer({ groupId: `${topic}-group`, maxWaitTimeInMs: 50 });
  const found: ReturnType<typeof readable>[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachMessage: async ({ message }) => {
          found.push(
            readable({
              key: String(message.key),
              value: message.value as Buffer,
              timestamp: Number(message.timestamp),
              origin: String(message.headers?.['origin']),
            }),
          );
          if (found.length >= count) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return found.slice(0, count);
}
