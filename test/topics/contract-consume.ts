/** The second half of the topic suite: consumer groups. */
import type { Test } from 'tap';
import type { Consumer, TopicLog } from '../../topics/contract.js';
import { SluiceError } from '../../core/errors.js';
import { consumeOptions, createCollector, createRecords, topicSpec, waitUntil } from './collect.js';
import type { TopicHarness, TopicPlace } from './contract.js';

const failure = (retryable: boolean) =>
  new SluiceError('TEST_HANDLER_FAILED', { retryable, summary: 'The test rejects this batch.' }, {});

interface Ground {
  readonly place: TopicPlace;
  readonly log: TopicLog;
  readonly topic: string;
  readonly group: string;
}

export async function testConsuming(t: Test, harness: TopicHarness): Promise<void> {
  async function createLog(test: Test, partitions = 1): Promise<Ground> {
    const place = await harness.createPlace(test);
    const log = await place.open();
    const topic = place.named('logs');
    await log.ensureTopics([topicSpec(topic, partitions)]);
    return { place, log, topic, group: place.named('group') };
  }
  const stopAtEnd = (test: Test, consumer: Consumer) => test.teardown(() => consumer.stop(1000));

  await t.test(
    `${harness.name}: a new group starts at the earliest record and is told so; batches keep to their bounds`,
    async (test) => {
      const { log, topic, group } = await createLog(test);
      await log.append(topic, 0, createRecords(0, 25));
      const collector = createCollector();
      const consumer = await log.consume(consumeOptions(group, topic, { maxBatchRecords: 10 }), collector);
      stopAtEnd(test, consumer);
      await waitUntil('25 records', () => collector.keys.length === 25);
      test.same(
        collector.keys,
        createRecords(0, 25).map((record) => record.key),
      );
      const [assignment] = collector.assignments;
      test.match(assignment, { topic, partition: 0, position: 0, committed: undefined, earliest: 0, logEnd: 25 });
      test.equal(collector.assignments.length, 1);
      let expected = 0;
      for (const batch of collector.batches) {
        test.ok(batch.records.length >= 1 && batch.records.length <= 10);
        test.equal(batch.records[0]?.offset, expected);
        test.equal(batch.nextOffset, expected + batch.records.length);
        test.equal(batch.groupGeneration, assignment?.groupGeneration);
        test.ok(batch.logEnd >= batch.nextOffset);
        expected = batch.nextOffset;
      }
    },
  );

  await t.test(
    `${harness.name}: batches keep to their bound of bytes, and one larger record still passes`,
    async (test) => {
      const { log, topic, group } = await createLog(test);
      const value = Buffer.alloc(4000, 'x');
      const records = createRecords(0, 10).map((record, index) => ({
        ...record,
        value: index === 5 ? Buffer.alloc(40_000, 'y') : value,
      }));
      await log.append(topic, 0, records);
      const collector = createCollector();
      stopAtEnd(test, await log.consume(consumeOptions(group, topic, { maxBatchBytes: 10_000 }), collector));
      await waitUntil('10 records', () => collector.keys.length === 10);
      for (const batch of collector.batches) {
        const bytes = batch.records.reduce((sum, record) => sum + record.value.length, 0);
        test.ok(bytes <= 10_000 || batch.records.length === 1, `${batch.records.length} records of ${bytes} bytes`);
      }
    },
  );

  await t.test(`${harness.name}: a consumer at the log end gets what is appended later`, async (test) => {
    const { log, topic, group } = await createLog(test);
    const collector = createCollector();
    stopAtEnd(test, await log.consume(consumeOptions(group, topic), collector));
    await waitUntil('the assignment', () => collector.assignments.length === 1);
    for (const from of [0, 10, 20]) {
      await log.append(topic, 0, createRecords(from, 10));
      await waitUntil(`${from + 10} records`, () => collector.keys.length === from + 10);
    }
    test.same(
      collector.keys,
      createRecords(0, 30).map((record) => record.key),
    );
  });

  await t.test(
    `${harness.name}: after a restart reading goes on at the committed offset, which may lie below what was read, with its metadata and a newer generation`,
    async (test) => {
      const { place, log, topic, group } = await createLog(test);
      await log.append(topic, 0, createRecords(0, 20));
      const metadata = JSON.stringify({ highest: 'r'.repeat(3900) });
      const first = createCollector(() => ({ commit: 12, metadata }));
      const consumer = await log.consume(consumeOptions(group, topic), first);
      await waitUntil('20 records', () => first.keys.length === 20);
      await log.append(topic, 0, createRecords(20, 1));
      await waitUntil('21 records', () => first.keys.length === 21);
      await consumer.stop(5000);
      test.same([...(await log.committed(group, topic))], [[0, 12]]);
      await log.stop(5000);
      const next = await place.open();
      test.same([...(await next.committed(group, topic))], [[0, 12]]);
      const second = createCollector();
      stopAtEnd(test, await next.consume(consumeOptions(group, topic), second));
      await waitUntil('9 records', () => second.keys.length === 9);
      test.match(second.assignments[0], { position: 12, committed: { offset: 12, metadata }, logEnd: 21 });
      test.equal(second.batches[0]?.records[0]?.offset, 12);
      test.ok(
        (second.assignments[0]?.groupGeneration ?? 0) > (first.assignments[0]?.groupGeneration ?? 0),
        'the generation grows',
      );
    },
  );

  await t.test(
    `${harness.name}: a batch that is rejected as retryable comes again, and nothing overtakes it`,
    async (test) => {
      const { log, topic, group } = await createLog(test);
      await log.append(topic, 0, createRecords(0, 10));
      let rejections = 0;
      const collector = createCollector((batch) => {
        if (rejections < 2 && batch.nextOffset > 4) {
          rejections += 1;
          throw failure(true);
        }
        return { commit: batch.nextOffset, metadata: '' };
      });
      stopAtEnd(test, await log.consume(consumeOptions(group, topic, { maxBatchRecords: 4 }), collector));
      await waitUntil('10 records', () => collector.keys.length === 10);
      test.same(
        collector.keys,
        createRecords(0, 10).map((record) => record.key),
      );
      test.equal(collector.batches.filter((batch) => batch.records[0]?.offset === 4).length, 3);
    },
  );

  await t.test(
    `${harness.name}: a permanent rejection ends the consumer and commits nothing of that batch`,
    async (test) => {
      const { log, topic, group } = await createLog(test);
      await log.append(topic, 0, createRecords(0, 10));
      const collector = createCollector((batch) => {
        if (batch.nextOffset > 5) throw failure(false);
        return { commit: batch.nextOffset, metadata: '' };
      });
      const consumer = await log.consume(consumeOptions(group, topic, { maxBatchRecords: 5 }), collector);
      stopAtEnd(test, consumer);
      await test.rejects(consumer.finished, { code: 'TEST_HANDLER_FAILED' });
      await consumer.stop(5000);
      test.same([...(await log.committed(group, topic))], [[0, 5]]);
    },
  );

  await t.test(
    `${harness.name}: batches of one partition come one after the other, those of several partitions at the same time`,
    async (test) => {
      const { log, topic, group } = await createLog(test, 2);
      await Promise.all([log.append(topic, 0, createRecords(0, 20)), log.append(topic, 1, createRecords(100, 20))]);
      const busy = new Map<number, number>();
      let together = 0;
      const collector = createCollector(async (batch) => {
        busy.set(batch.partition, (busy.get(batch.partition) ?? 0) + 1);
        test.equal(busy.get(batch.partition), 1);
        if (together === 0)
          await waitUntil('the other partition', () => together > 0 || (busy.get(1 - batch.partition) ?? 0) > 0);
        together += 1;
        busy.set(batch.partition, 0);
        return { commit: batch.nextOffset, metadata: '' };
      });
      stopAtEnd(test, await log.consume(consumeOptions(group, topic, { maxBatchRecords: 5 }), collector));
      await waitUntil('40 records', () => collector.keys.length === 40);
      test.equal(collector.assignments.length, 2);
    },
  );

  await t.test(`${harness.name}: two groups each get every record`, async (test) => {
    const { log, topic, group } = await createLog(test);
    await log.append(topic, 0, createRecords(0, 10));
    const collectors = [createCollector(), createCollector()];
    await Promise.all(
      collectors.map(async (collector, index) =>
        stopAtEnd(test, await log.consume(consumeOptions(`${group}-${index}`, topic), collector)),
      ),
    );
    await waitUntil('10 records each', () => collectors.every((collector) => collector.keys.length === 10));
    test.same(collectors[0]?.keys, collectors[1]?.keys);
  });

  await t.test(
    `${harness.name}: the fence holds while the partition is owned; stop waits for the handler, commits, and then revokes`,
    async (test) => {
      const { log, topic, group } = await createLog(test);
      await log.append(topic, 0, createRecords(0, 3));
      let release: (() => void) | undefined;
      const collector = createCollector(async (batch) => {
        await batch.fence();
        test.equal(batch.revoked(), false);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { commit: batch.nextOffset, metadata: 'done' };
      });
      const consumer = await log.consume(consumeOptions(group, topic), collector);
      let finished = false;
      void consumer.finished.then(() => {
        finished = true;
      });
      await waitUntil('the handler behind its fence', () => release !== undefined);
      test.equal(finished, false);
      const stopping = consumer.stop(10_000);
      release?.();
      await stopping;
      await consumer.stop(10_000);
      await consumer.finished;
      test.same(collector.revocations, [`${topic}/0`]);
      test.equal(collector.batches[0]?.revoked(), true);
      await test.rejects(collector.batches[0]?.fence() ?? Promise.resolve());
      test.same([...(await log.committed(group, topic))], [[0, 3]]);
    },
  );

  await t.test(`${harness.name}: a topic that does not exist cannot be consumed`, async (test) => {
    const { place, log, group } = await createLog(test);
    await test.rejects(log.consume(consumeOptions(group, place.named('nowhere')), createCollector()), {
      code: 'TOPIC_UNKNOWN',
    });
  });
}
