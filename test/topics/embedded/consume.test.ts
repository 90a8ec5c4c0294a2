/** What consumer groups of the embedded log do beyond the suite of both adapters. */
import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Registry } from '../../../core/metrics.js';
import { consumeOptions, createCollector, createRecord, createRecords, topicSpec, waitUntil } from '../collect.js';
import { createFolder, createLog, metricValue, startLog } from './folder.js';

t.test('a batch waits to fill up, and is delivered early when its bound is reached', async (test) => {
  const log = await startLog(test, await createFolder(test));
  await log.ensureTopics([topicSpec('logs')]);
  const collector = createCollector();
  const consumer = await log.consume(consumeOptions('group', 'logs', { waitForMoreMs: 1000 }), collector);
  const start = performance.now();
  for (let from = 0; from < 5; from += 1) await log.append('logs', 0, createRecords(from, 1));
  await waitUntil('5 records', () => collector.keys.length === 5);
  test.equal(collector.batches.length, 1, 'five appends are one batch');
  test.ok(performance.now() - start >= 900);
  await consumer.stop(1000);
  const patient = createCollector();
  const second = await log.consume(
    consumeOptions('group', 'logs', { waitForMoreMs: 3_600_000, maxBatchRecords: 20 }),
    patient,
  );
  for (let from = 5; from < 25; from += 1) await log.append('logs', 0, createRecords(from, 1));
  await waitUntil('a full batch, which does not wait', () => patient.keys.length === 20);
  await log.append('logs', 0, createRecords(25, 1));
  await second.stop(1000);
  test.equal(patient.keys.length, 20, 'a stop ends the wait, and the batch is left for the next consumer');
});

t.test('one consumer of a group and topic at a time; after its stop the next one goes on', async (test) => {
  const log = await startLog(test, await createFolder(test));
  await log.ensureTopics([topicSpec('logs'), topicSpec('other')]);
  await log.append('logs', 0, createRecords(0, 5));
  const first = createCollector();
  const consumer = await log.consume(consumeOptions('group', 'logs'), first);
  await test.rejects(log.consume(consumeOptions('group', 'logs'), createCollector()), { code: 'TOPIC_GROUP_IN_USE' });
  const other = await log.consume(consumeOptions('group', 'other'), createCollector());
  await waitUntil('5 records', () => first.keys.length === 5);
  await consumer.stop(1000);
  await log.append('logs', 0, createRecords(5, 5));
  const second = createCollector();
  const next = await log.consume(consumeOptions('group', 'logs'), second);
  await waitUntil('5 records', () => second.keys.length === 5);
  test.same(
    second.keys,
    createRecords(5, 5).map((record) => record.key),
  );
  await Promise.all([next.stop(1000), other.stop(1000)]);
});

t.test(
  'a handler that does not end by the deadline is left: nothing of it is committed, and it is told',
  async (test) => {
    const folder = await createFolder(test);
    const log = await startLog(test, folder);
    await log.ensureTopics([topicSpec('logs')]);
    await log.append('logs', 0, createRecords(0, 5));
    let release: (commit: { commit: number; metadata: string }) => void = () => {};
    const collector = createCollector(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    const consumer = await log.consume(consumeOptions('group', 'logs'), collector);
    await waitUntil('the batch', () => collector.batches.length === 1);
    await consumer.stop(50);
    test.equal(collector.batches[0]?.revoked(), true);
    release({ commit: 5, metadata: '' });
    await log.stop(1000);
    test.same([...(await createLog(test, folder, { readOnly: true }).committed('group', 'logs'))], []);
  },
);

t.test('a commit past the batch, or with too much metadata, ends the consumer', async (test) => {
  const log = await startLog(test, await createFolder(test));
  await log.ensureTopics([topicSpec('logs')]);
  await log.append('logs', 0, createRecords(0, 5));
  for (const commit of [
    { commit: 6, metadata: '' },
    { commit: 5, metadata: 'x'.repeat(4001) },
  ]) {
    const consumer = await log.consume(
      consumeOptions('group', 'logs'),
      createCollector(() => commit),
    );
    await test.rejects(consumer.finished, { code: 'TOPIC_COMMIT_INVALID' });
    await consumer.stop(1000);
  }
  test.same([...(await log.committed('group', 'logs'))], []);
});

t.test('many commits keep the journal small, and the last one counts after a restart', async (test) => {
  const folder = await createFolder(test);
  const log = await startLog(test, folder);
  await log.ensureTopics([topicSpec('logs')]);
  await log.append('logs', 0, createRecords(0, 300));
  const metadata = 'm'.repeat(3900);
  const collector = createCollector((batch) => ({ commit: batch.nextOffset, metadata }));
  await log.consume(consumeOptions('group', 'logs', { maxBatchRecords: 1 }), collector);
  await waitUntil('300 records', () => collector.keys.length === 300);
  await log.stop(1000);
  const journal = join(folder, 'groups', 'group.offsets');
  test.ok((await readFile(journal)).length < 400_000);
  await writeFile(journal, 'deadbeef {"torn', { flag: 'a' });
  const beside = createLog(test, folder, { readOnly: true });
  test.same([...(await beside.committed('group', 'logs'))], [[0, 300]]);
});

t.test('records that are gone or damaged are counted as lost, and reading goes on after them', async (test) => {
  const folder = await createFolder(test);
  const first = await startLog(test, folder, { segmentBytes: 4096 });
  await first.ensureTopics([topicSpec('logs')]);
  for (let from = 0; from < 60; from += 10)
    await first.append(
      'logs',
      0,
      Array.from({ length: 10 }, (_, index) => createRecord(from + index, 'x'.repeat(200))),
    );
  await first.stop(1000);
  const partition = join(folder, 'topics', 'logs', '0');
  const segments = (await readdir(partition)).sort();
  test.equal(segments.length, 6);
  await unlink(join(partition, segments[2] ?? ''));
  const damaged = join(partition, segments[4] ?? '');
  const bytes = await readFile(damaged);
  bytes[1000] = (bytes[1000] as number) ^ 1;
  await writeFile(damaged, bytes);

  const registry = new Registry();
  const log = await startLog(test, folder, { segmentBytes: 4096, registry });
  const collector = createCollector();
  const consumer = await log.consume(consumeOptions('group', 'logs'), collector);
  await waitUntil('what is left', () => collector.keys.length === 40);
  await consumer.stop(1000);
  test.same(
    collector.keys,
    [...createRecords(0, 20), ...createRecords(30, 10), ...createRecords(50, 10)].map((record) => record.key),
  );
  test.equal(await metricValue(registry, 'sluice_topic_records_lost_total', { group: 'group', topic: 'logs' }), 20);
  test.same([...(await log.committed('group', 'logs'))], [[0, 60]]);
});

t.test('when acknowledged records were lost from the end, their offsets are not given out again', async (test) => {
  const folder = await createFolder(test);
  const first = await startLog(test, folder);
  await first.ensureTopics([topicSpec('logs')]);
  await first.append('logs', 0, createRecords(0, 10));
  const collector = createCollector();
  await first.consume(consumeOptions('group', 'logs'), collector);
  await waitUntil('10 records', () => collector.keys.length === 10);
  const behind = createCollector(() => ({ commit: 5, metadata: '' }));
  await first.consume(consumeOptions('behind', 'logs'), behind);
  await waitUntil('10 records', () => behind.keys.length === 10);
  await first.stop(1000);
  const partition = join(folder, 'topics', 'logs', '0');
  for (const segment of await readdir(partition)) await unlink(join(partition, segment));
  const registry = new Registry();
  const log = await startLog(test, folder, { registry });
  const late = createCollector();
  const other = await log.consume(consumeOptions('behind', 'logs'), late);
  await waitUntil(
    'the loss to be counted',
    async () => (await metricValue(registry, 'sluice_topic_records_lost_total', { group: 'behind' })) === 5,
  );
  await log.append('logs', 0, createRecords(10, 5));
  await waitUntil('5 records', () => late.keys.length === 5);
  await other.stop(1000);
  const second = createCollector();
  const consumer = await log.consume(consumeOptions('group', 'logs'), second);
  await waitUntil('5 records', () => second.keys.length === 5);
  test.same(second.batches[0]?.records[0]?.offset, 10);
  await consumer.stop(1000);
});

t.test('lag, consumed and redelivered are counted', async (test) => {
  const registry = new Registry();
  const log = await startLog(test, await createFolder(test), { registry });
  await log.ensureTopics([topicSpec('logs')]);
  await log.append('logs', 0, createRecords(0, 10));
  let rejected = false;
  const collector = createCollector(() => {
    if (rejected) return { commit: 4, metadata: '' };
    rejected = true;
    throw new Error('an error without a kind is tried again');
  });
  const consumer = await log.consume(consumeOptions('group', 'logs'), collector);
  await waitUntil('10 records', () => collector.keys.length === 10);
  await consumer.stop(1000);
  const labels = { group: 'group', topic: 'logs' };
  test.equal(await metricValue(registry, 'sluice_topic_lag_records', { ...labels, partition: '0' }), 6);
  test.equal(await metricValue(registry, 'sluice_topic_records_consumed_total', labels), 10);
  test.equal(await metricValue(registry, 'sluice_topic_batches_redelivered_total', labels), 1);
  test.equal(await metricValue(registry, 'sluice_topic_records_appended_total', { topic: 'logs' }), 10);
  test.equal(
    await metricValue(registry, 'sluice_topic_segments', { topic: 'logs' }),
    0,
    'gauges are shown every few seconds',
  );
  await log.maintain();
  test.equal(await metricValue(registry, 'sluice_topic_segments', { topic: 'logs' }), 1);
});
