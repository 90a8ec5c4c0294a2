/** Retention removes whole segments, and none that a group has not consumed. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Registry } from '../../../core/metrics.js';
import type { TopicLog, TopicSpec } from '../../../topics/contract.js';
import { consumeOptions, createCollector, createRecord, readAll, topicSpec, waitUntil } from '../collect.js';
import { createFolder, metricValue, startLog } from './folder.js';

const bigRecords = (from: number, count: number, age = 0) =>
  Array.from({ length: count }, (_, index) => ({
    ...createRecord(from + index, 'x'.repeat(1000)),
    timestamp: Date.now() - age,
  }));
const earliestOf = async (log: TopicLog) => (await log.partitions('logs'))[0]?.earliest ?? -1;
const segmentsOf = async (folder: string) => (await readdir(join(folder, 'topics', 'logs', '0'))).length;

/** A log of 10 KiB segments with a hundred records of a kilobyte. */
async function createFilled(test: Test, spec: Partial<TopicSpec>, age = 0) {
  const folder = await createFolder(test);
  const registry = new Registry();
  const log = await startLog(test, folder, { segmentBytes: 10_240, registry });
  await log.ensureTopics([{ ...topicSpec('logs'), ...spec }]);
  for (let from = 0; from < 100; from += 5) await log.append('logs', 0, bigRecords(from, 5, age));
  return { folder, registry, log };
}

t.test('by bytes: the oldest segments go until what is left is about the limit', async (test) => {
  const { folder, log } = await createFilled(test, { retentionBytes: 30_000 });
  const before = await segmentsOf(folder);
  await log.maintain();
  const [state] = await log.partitions('logs');
  test.ok((state?.bytes ?? 0) >= 30_000 && (state?.bytes ?? 0) <= 30_000 + 10_240, `${state?.bytes} bytes are left`);
  test.ok((await segmentsOf(folder)) < before);
  test.equal((await readAll(log, 'logs'))[0]?.offset, state?.earliest, 'reading from 0 begins at the earliest');
  test.equal(state?.logEnd, 100);
});

t.test('by age: what is older goes, the segment being written too, and offsets go on', async (test) => {
  const { log } = await createFilled(test, { retentionMs: 60_000 }, 120_000);
  await log.maintain();
  test.same(
    (await log.partitions('logs')).map(({ earliest, logEnd }) => ({ earliest, logEnd })),
    [{ earliest: 100, logEnd: 100 }],
  );
  await log.append('logs', 0, bigRecords(100, 1));
  await log.maintain();
  test.same(
    (await readAll(log, 'logs')).map(({ offset }) => offset),
    [100],
  );
});

t.test('without a limit, and below it, nothing is removed', async (test) => {
  const { log } = await createFilled(test, { retentionMs: 60_000, retentionBytes: 1_000_000 });
  await log.maintain();
  test.equal(await earliestOf(log), 0);
});

t.test(
  'a group that has not consumed holds its records, also after a restart and before its first commit',
  async (test) => {
    const { folder, log, registry } = await createFilled(test, { retentionBytes: 10_000 });
    const stuck = createCollector(() => new Promise(() => {}));
    const consumer = await log.consume(consumeOptions('slow', 'logs'), stuck);
    await waitUntil('the first batch', () => stuck.batches.length === 1);
    await log.maintain();
    test.equal(await earliestOf(log), 0);
    test.ok((await metricValue(registry, 'sluice_topic_retention_held_bytes', { topic: 'logs' })) > 50_000);
    await consumer.stop(0);
    await log.stop(1000);

    const next = await startLog(test, folder, { segmentBytes: 10_240 });
    await next.maintain();
    test.equal(await earliestOf(next), 0);
    test.same([...(await next.committed('slow', 'logs'))], [], 'nothing was committed');
    const collector = createCollector((batch) => ({ commit: Math.min(batch.nextOffset, 50), metadata: '' }));
    const second = await next.consume(consumeOptions('slow', 'logs'), collector);
    await waitUntil('all records', () => collector.keys.length === 100);
    await second.stop(1000);
    await next.maintain();
    const earliest = await earliestOf(next);
    test.ok(earliest > 30 && earliest <= 50, `removed up to ${earliest}, consumed up to 50`);
  },
);

t.test('a group of a topic that was deleted and made again holds nothing of the new one', async (test) => {
  const { folder, log } = await createFilled(test, { retentionBytes: 10_000 });
  const collector = createCollector(() => ({ commit: 3, metadata: 'old' }));
  const consumer = await log.consume(consumeOptions('group', 'logs'), collector);
  await waitUntil('all records', () => collector.keys.length === 100);
  await consumer.stop(1000);
  const generation = await log.generation('logs');
  await log.stop(1000);
  await rm(join(folder, 'topics', 'logs'), { recursive: true });

  const next = await startLog(test, folder, { segmentBytes: 10_240 });
  await test.rejects(next.generation('logs'), { code: 'TOPIC_UNKNOWN' });
  await next.ensureTopics([{ ...topicSpec('logs'), retentionBytes: 10_000 }]);
  test.not(await next.generation('logs'), generation);
  test.same([...(await next.committed('group', 'logs'))], []);
  for (let from = 0; from < 50; from += 5) await next.append('logs', 0, bigRecords(from, 5));
  await next.maintain();
  test.ok((await earliestOf(next)) > 0);
  const again = createCollector();
  const second = await next.consume(consumeOptions('group', 'logs'), again);
  await waitUntil('the assignment', () => again.assignments.length === 1);
  test.equal(again.assignments[0]?.committed, undefined);
  await second.stop(1000);
});

t.test(
  'settings of retention that change are taken over, and partitions are added to a running consumer',
  async (test) => {
    const { log } = await createFilled(test, {});
    await log.maintain();
    test.equal(await earliestOf(log), 0);
    const collector = createCollector();
    const consumer = await log.consume(consumeOptions('group', 'logs'), collector);
    await waitUntil('all records', () => collector.keys.length === 100);
    test.same(await log.ensureTopics([{ ...topicSpec('logs', 3), retentionBytes: 20_000 }]), []);
    await log.append('logs', 2, bigRecords(0, 1));
    await waitUntil('the record of the new partition', () => collector.keys.length === 101);
    test.same(
      collector.assignments.map(({ partition }) => partition),
      [0, 1, 2],
    );
    await consumer.stop(1000);
    await log.maintain();
    test.ok((await earliestOf(log)) > 0);
    await log.ensureTopics([topicSpec('logs', 1)]);
    test.equal((await log.partitions('logs')).length, 3, 'partitions are never removed');
  },
);
