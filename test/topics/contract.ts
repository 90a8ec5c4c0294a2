/**
 * The suite that every topic log passes. An adapter's test file calls `testTopicLog` (or its two halves) with a
 * harness.
 */
import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import type { TopicLog, TopicRecord } from '../../topics/contract.js';
import { createRecord, createRecords, readAll, topicSpec } from './collect.js';
import { testConsuming } from './contract-consume.js';

/** Ground for one test: an empty folder, or unique names on a shared engine. Removed at the test's teardown. */
export interface TopicPlace {
  /**
   * A started log on this ground. At most one is open at a time; after its stop the next one is a restart. Stopped at
   * teardown.
   */
  open(): Promise<TopicLog>;
  /** A second log that only reads the same ground, as another process would, while the first one writes. */
  openReader(): Promise<TopicLog>;
  /** The name to use for a topic or group of this test; unique on shared engines. */
  named(name: string): string;
}

export interface TopicHarness {
  readonly name: string;
  createPlace(t: Test): Promise<TopicPlace>;
}

export async function testTopicLog(t: Test, harness: TopicHarness): Promise<void> {
  await testAppending(t, harness);
  await testConsuming(t, harness);
}

async function testAppending(t: Test, harness: TopicHarness): Promise<void> {
  /** A started log with one topic of two partitions. */
  async function createLog(test: Test): Promise<{ place: TopicPlace; log: TopicLog; topic: string }> {
    const place = await harness.createPlace(test);
    const log = await place.open();
    const topic = place.named('logs');
    await log.ensureTopics([topicSpec(topic, 2)]);
    return { place, log, topic };
  }

  await t.test(
    `${harness.name}: records are read back as they were appended, at consecutive offsets from 0`,
    async (test) => {
      const { log, topic } = await createLog(test);
      const records = [
        ...createRecords(0, 3),
        {
          key: 'k'.repeat(255),
          value: randomBytes(5000),
          timestamp: 1_700_000_000_123,
          origin: 'gelf-udp [2001:db8::1]:12201',
        },
        { key: 'empty', value: Buffer.alloc(0), timestamp: 0, origin: '' },
        {
          key: 'words',
          value: Buffer.from('{"short_message":"Grüße, мир, 世界"}'),
          timestamp: 1_700_000_000_124,
          origin: 'gelf-http Grüße',
        },
      ];
      await log.append(topic, 0, records.slice(0, 2));
      await log.append(topic, 0, records.slice(2));
      const found = await readAll(log, topic);
      test.same(
        found.map((record) => record.offset),
        [0, 1, 2, 3, 4, 5],
      );
      const readable = (record: TopicRecord) => ({
        key: record.key,
        value: record.value.toString('hex'),
        timestamp: record.timestamp,
        origin: record.origin,
      });
      test.same(found.map(readable), records.map(readable));
    },
  );

  await t.test(
    `${harness.name}: appends that do not wait for one another keep their order within a partition`,
    async (test) => {
      const { log, topic } = await createLog(test);
      const appends: Promise<void>[] = [];
      for (let index = 0; index < 50; index += 1)
        appends.push(log.append(topic, index % 2, createRecords(index * 10, 1 + (index % 7))));
      await Promise.all(appends);
      for (const partition of [0, 1]) {
        const numbers = (await readAll(log, topic, partition)).map((record) => Number(record.key.split('-')[2]));
        test.same(
          numbers,
          numbers.toSorted((left, right) => left - right),
        );
        test.equal(
          numbers.length,
          Array.from({ length: 50 }, (_, index) => index)
            .filter((index) => index % 2 === partition)
            .reduce((sum, index) => sum + 1 + (index % 7), 0),
        );
      }
    },
  );

  await t.test(`${harness.name}: an empty append resolves and appends nothing`, async (test) => {
    const { log, topic } = await createLog(test);
    await log.append(topic, 0, []);
    test.same(await readAll(log, topic), []);
  });

  await t.test(`${harness.name}: reading begins at the offset asked for and ends at the log end`, async (test) => {
    const { log, topic } = await createLog(test);
    await log.append(topic, 1, createRecords(0, 100));
    test.same(
      (await readAll(log, topic, 1, 97)).map((record) => record.offset),
      [97, 98, 99],
    );
    test.same(await readAll(log, topic, 1, 100), []);
    test.same(await readAll(log, topic, 0, 0), []);
  });

  await t.test(`${harness.name}: the state of partitions tells the earliest offset and the log end`, async (test) => {
    const { log, topic } = await createLog(test);
    await log.append(topic, 1, createRecords(0, 7));
    const states = await log.partitions(topic);
    test.same(
      states.map(({ partition, earliest, logEnd }) => ({ partition, earliest, logEnd })),
      [
        { partition: 0, earliest: 0, logEnd: 0 },
        { partition: 1, earliest: 0, logEnd: 7 },
      ],
    );
  });

  await t.test(`${harness.name}: what was appended is there after a restart, and offsets go on`, async (test) => {
    const { place, log, topic } = await createLog(test);
    await log.append(topic, 0, createRecords(0, 5));
    const generation = await log.generation(topic);
    await log.stop(5000);
    const next = await place.open();
    test.same(await next.ensureTopics([topicSpec(topic, 2)]), [], 'no warning about a topic that fits');
    test.equal(await next.generation(topic), generation);
    await next.append(topic, 0, createRecords(5, 5));
    const found = await readAll(next, topic);
    test.same(
      found.map((record) => record.offset),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    test.same(
      found.map((record) => record.key),
      createRecords(0, 10).map((record) => record.key),
    );
  });

  await t.test(`${harness.name}: another process reads while this one writes`, async (test) => {
    const { place, log, topic } = await createLog(test);
    await log.append(topic, 0, createRecords(0, 5));
    const reader = await place.openReader();
    test.equal((await readAll(reader, topic)).length, 5);
    await log.append(topic, 0, createRecords(5, 5));
    test.equal((await readAll(reader, topic)).length, 10);
    test.equal((await reader.partitions(topic))[0]?.logEnd, 10);
    test.equal(await reader.generation(topic), await log.generation(topic));
  });

  await t.test(
    `${harness.name}: a record that can never fit is refused for good, and the others pass`,
    async (test) => {
      const { log, topic } = await createLog(test);
      const tooLarge = createRecord(0, 'x'.repeat(1_000_001));
      await test.rejects(log.append(topic, 0, [tooLarge]), { code: 'TOPIC_RECORD_TOO_LARGE', retryable: false });
      await test.rejects(log.append(topic, 0, [{ ...createRecord(0), key: 'k'.repeat(256) }]), {
        code: 'TOPIC_RECORD_INVALID',
        retryable: false,
      });
      await log.append(topic, 0, [createRecord(1, 'x'.repeat(900_000))]);
      test.same(
        (await readAll(log, topic)).map((record) => record.key),
        ['run-0-1'],
      );
    },
  );

  await t.test(
    `${harness.name}: an append to what does not exist, or after stop, is refused for good`,
    async (test) => {
      const { place, log, topic } = await createLog(test);
      await test.rejects(log.append(place.named('nowhere'), 0, createRecords(0, 1)), {
        code: 'TOPIC_UNKNOWN',
        retryable: false,
      });
      await test.rejects(log.append(topic, 2, createRecords(0, 1)), {
        code: 'TOPIC_PARTITION_UNKNOWN',
        retryable: false,
      });
      const last = log.append(topic, 0, createRecords(0, 1));
      await log.stop(5000);
      await last;
      await test.rejects(log.append(topic, 0, createRecords(1, 1)), { code: 'TOPIC_LOG_STOPPED', retryable: false });
      await log.stop(5000);
    },
  );

  await t.test(`${harness.name}: a healthy log says that it can be written`, async (test) => {
    const { log, topic } = await createLog(test);
    await log.append(topic, 0, createRecords(0, 1));
    test.equal(log.writable().ok, true);
  });
}
