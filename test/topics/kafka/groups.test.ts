import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import t, { type Test } from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createKafkaTopicLog, type KafkaTopicLogOptions } from '../../../topics/kafka.js';
import { kafkaBrokers, skipWithoutKafka } from '../../engines.js';
import { consumeOptions, createCollector, createRecords, readAll, topicSpec, waitUntil } from '../collect.js';

const brokers = kafkaBrokers()?.split(',') ?? [];

async function withAdmin<Result>(use: (admin: kafkajs.Admin) => Promise<Result>): Promise<Result> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

async function createPlace(test: Test) {
  const suffix = randomBytes(6).toString('hex');
  const [topic, group] = [`test-groups-${suffix}`, `test-group-${suffix}`];
  test.teardown(() =>
    withAdmin(async (admin) => {
      if ((await admin.listTopics()).includes(topic)) await admin.deleteTopics({ topics: [topic] });
      await admin.deleteGroups([group]).catch(() => undefined);
    }),
  );
  const open = async (changes: Partial<KafkaTopicLogOptions> = {}) => {
    const registry = new Registry();
    const log = createKafkaTopicLog({ brokers, registry, log: silentLog, heartbeatMs: 300, ...changes });
    test.teardown(() => log.stop(1000));
    await log.start();
    return { log, registry };
  };
  return { topic, group, open };
}

await t.test('Kafka groups', { ...skipWithoutKafka(), timeout: 110_000 }, async (suite) => {
  await suite.test(
    'a second consumer takes partitions over: under a newer generation, and the first one cannot fence or commit what it had',
    async (test) => {
      const { topic, group, open } = await createPlace(test);
      const [{ log: first }, { log: second }] = await Promise.all([open(), open()]);
      await first.ensureTopics([topicSpec(topic, 2)]);
      await Promise.all([0, 1].map((partition) => first.append(topic, partition, createRecords(partition * 100, 10))));
      const older = createCollector();
      await first.consume(consumeOptions(group, topic), older);
      await waitUntil('20 records', () => older.keys.length === 20);
      const newer = createCollector();
      await second.consume(consumeOptions(group, topic), newer);
      await waitUntil('one partition each', () => newer.assignments.length === 1 && older.assignments.length === 3);
      test.same(
        older.revocations.toSorted(),
        [`${topic}/0`, `${topic}/1`],
        'an eager rebalance gives everything up first',
      );
      const [before, after] = [older.assignments[0]?.groupGeneration ?? 0, newer.assignments[0]?.groupGeneration ?? 0];
      test.ok(after > before);
      test.match(newer.assignments[0], { position: 10, committed: { offset: 10 } });
      for (const batch of older.batches) {
        test.equal(batch.revoked(), true);
        await test.rejects(batch.fence(), { code: 'TOPIC_PARTITION_REVOKED' });
      }
      await Promise.all(
        [0, 1].map((partition) => first.append(topic, partition, createRecords(200 + partition * 100, 10))),
      );
      await waitUntil('20 more records', () => older.keys.length + newer.keys.length === 40);
      test.equal(
        new Set([...older.keys, ...newer.keys]).size,
        40,
        'nothing is delivered twice by an orderly rebalance',
      );
    },
  );

  await suite.test(
    'a handler under way when the group rebalances finishes, and commits, before its partition moves',
    async (test) => {
      const { topic, group, open } = await createPlace(test);
      const [{ log: first }, { log: second }] = await Promise.all([open(), open()]);
      await first.ensureTopics([topicSpec(topic, 1)]);
      await first.append(topic, 0, createRecords(0, 10));
      let release: (() => void) | undefined;
      const slow = createCollector(async (batch) => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { commit: batch.nextOffset, metadata: 'slow' };
      });
      await first.consume(consumeOptions(group, topic), slow);
      await waitUntil('the handler', () => release !== undefined);
      const other = createCollector();
      setTimeout(() => release?.(), 700);
      await second.consume(consumeOptions(group, topic), other);
      await waitUntil(
        'an assignment after the rebalance',
        () => slow.assignments.length + other.assignments.length === 2,
      );
      const assignment = [...other.assignments, ...slow.assignments].find(
        ({ groupGeneration }) => groupGeneration > (slow.batches[0]?.groupGeneration ?? 0),
      );
      test.match(assignment, { position: 10, committed: { offset: 10, metadata: 'slow' } });
    },
  );

  await suite.test('a handler that takes longer than the session keeps its partition', async (test) => {
    const { topic, group, open } = await createPlace(test);
    const { log } = await open({ sessionTimeoutMs: 6_000, heartbeatMs: 1_000 });
    await log.ensureTopics([topicSpec(topic, 2)]);
    await Promise.all([0, 1].map((partition) => log.append(topic, partition, createRecords(partition * 100, 10))));
    let handled = 0;
    const collector = createCollector(async (batch) => {
      if (batch.partition === 0) {
        await new Promise((resolve) => {
          setTimeout(resolve, 8_000);
        });
        await batch.fence();
      }
      handled += 1;
      return { commit: batch.nextOffset, metadata: '' };
    });
    await log.consume(consumeOptions(group, topic), collector);
    await waitUntil('the other partition, which is not held up', () => handled === 1, 5_000);
    await waitUntil('the slow handler', () => handled === 2);
    test.equal(collector.assignments.length, 2);
    test.same(collector.revocations, []);
    await waitUntil('both commits', async () => [...(await log.committed(group, topic)).values()].join() === '10,10');
  });

  await suite.test(
    'records that retention took before they were consumed are counted as lost, and reading goes on at the earliest',
    async (test) => {
      const { topic, group, open } = await createPlace(test);
      const { log, registry } = await open();
      await log.ensureTopics([topicSpec(topic, 1)]);
      await log.append(topic, 0, createRecords(0, 50));
      const first = createCollector(() => ({ commit: 10, metadata: 'kept' }));
      const consumer = await log.consume(consumeOptions(group, topic), first);
      await waitUntil('50 records', () => first.keys.length === 50);
      await consumer.stop(2_000);
      await withAdmin(async (admin) => {
        await admin.fetchTopicOffsets(topic);
        await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '30' }] });
      });
      const second = createCollector();
      await log.consume(consumeOptions(group, topic), second);
      await waitUntil('20 records', () => second.keys.length === 20);
      test.match(second.assignments[0], { position: 30, earliest: 30, committed: { offset: 10, metadata: 'kept' } });
      await waitUntil('the loss to be counted', async () =>
        /records_lost_total\{.*\} 20/.test(await registry.metrics()),
      );
    },
  );

  await suite.test('the same while it consumes: the committed metadata survives', async (test) => {
    const { topic, group, open } = await createPlace(test);
    const { log, registry } = await open();
    await log.ensureTopics([topicSpec(topic, 1)]);
    const append = (from: number) =>
      log.append(
        topic,
        0,
        createRecords(from, 10).map((record) => ({ ...record, value: randomBytes(20_000) })),
      );
    await append(0);
    let release: (() => void) | undefined;
    const collector = createCollector(async (batch) => {
      if (batch.nextOffset === 2) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return { commit: batch.nextOffset, metadata: `at ${batch.nextOffset}` };
    });
    await log.consume(consumeOptions(group, topic, { maxBatchRecords: 1, maxBatchBytes: 20_000 }), collector);
    await waitUntil('the handler', () => release !== undefined);
    for (const from of [10, 20, 30]) await append(from);
    await withAdmin(async (admin) => {
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '35' }] });
    });
    release?.();
    await waitUntil('the last record', () => collector.keys.includes('run-0-39'));
    const offsets = collector.batches.map((batch) => batch.nextOffset - 1);
    const lost = 40 - offsets.length;
    test.ok(lost > 0);
    test.same(
      offsets,
      offsets.toSorted((left, right) => left - right),
    );
    await waitUntil('the loss to be counted', async () =>
      (await registry.metrics()).includes(`records_lost_total{group="${group}",topic="${topic}"} ${lost}`),
    );
    await waitUntil('the commit', async () => (await log.committed(group, topic)).get(0) === 40);
  });

  await suite.test(
    'a topic that was deleted and made again has another generation, and is read from its beginning',
    async (test) => {
      const { topic, group, open } = await createPlace(test);
      const { log } = await open();
      await log.ensureTopics([topicSpec(topic, 1)]);
      await log.append(topic, 0, createRecords(0, 20));
      const generation = await log.generation(topic);
      const first = createCollector();
      const consumer = await log.consume(consumeOptions(group, topic), first);
      await waitUntil('20 records', () => first.keys.length === 20);
      await consumer.stop(2_000);
      await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }));
      await waitUntil(
        'the topic to be gone',
        async () => !(await withAdmin((admin) => admin.listTopics())).includes(topic),
      );
      const appending = log.append(topic, 0, createRecords(100, 5));
      await log.ensureTopics([topicSpec(topic, 1)]);
      await appending;
      test.not(await log.generation(topic), generation);
      const second = createCollector();
      await log.consume(consumeOptions(group, topic), second);
      await waitUntil('5 records', () => second.keys.length === 5);
      test.equal(second.assignments[0]?.position, 0);
    },
  );

  await suite.test('topics that do not fit are told in sentences and left as they are', async (test) => {
    const { topic, open } = await createPlace(test);
    const { log } = await open();
    await withAdmin((admin) =>
      admin.createTopics({
        topics: [
          {
            topic,
            numPartitions: 1,
            configEntries: [
              { name: 'retention.ms', value: '60000' },
              { name: 'max.message.bytes', value: '50000' },
            ],
          },
        ],
      }),
    );
    const warnings = await log.ensureTopics([
      { name: topic, partitions: 4, retentionBytes: undefined, retentionMs: 3_600_000, maxMessageBytes: 1_000_000 },
    ]);
    test.match(warnings, [
      /has 1 partitions instead of 4/,
      /takes records of \d+ bytes instead of 1000000/,
      /keeps records for 60000 ms instead of 3600000/,
    ]);
    test.equal(warnings.length, 3);
    await test.rejects(log.append(topic, 0, [{ key: 'large', value: randomBytes(60_000), timestamp: 0, origin: '' }]), {
      code: 'TOPIC_RECORD_TOO_LARGE',
    });
    await log.append(
      topic,
      0,
      Array.from({ length: 10 }, (_, index) => ({
        key: `k-${index}`,
        value: randomBytes(20_000),
        timestamp: 0,
        origin: '',
      })),
    );
    test.equal((await readAll(log, topic)).length, 10);
  });
});
