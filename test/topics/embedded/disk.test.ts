/** Disks that are full or fail: nothing acknowledged is lost, appends wait, and go on when there is room. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Registry } from '../../../core/metrics.js';
import type { TopicLog } from '../../../topics/contract.js';
import { createRecord, createRecords, readAll, topicSpec, waitUntil } from '../collect.js';
import { createFolder, createSmallDisk, metricValue, startLog } from './folder.js';

const keysOf = async (log: TopicLog) => (await readAll(log, 'logs')).map((record) => record.key);
const failWith = (code: string) => Object.assign(new Error(`${code}: injected`), { code });

/** Appends until one has to wait; returns it and how many were acknowledged before. */
async function appendUntilRefused(
  log: TopicLog,
  batch: number,
): Promise<{ acknowledged: number; waiting: Promise<void> }> {
  let acknowledged = 0;
  for (;;) {
    let done = false;
    const records = Array.from({ length: batch }, (_, index) => createRecord(acknowledged + index, 'x'.repeat(1000)));
    const waiting = log.append('logs', 0, records).then(() => {
      done = true;
    });
    waiting.catch(() => {});
    await waitUntil('an append to be acknowledged or refused', () => done || !log.writable().ok);
    if (!done) return { acknowledged, waiting };
    acknowledged += batch;
  }
}

t.test(
  'on a full disk appends wait, what was accepted stays readable, and all goes on when there is room',
  async (test) => {
    const disk = await createSmallDisk(test, 8 * 2 ** 20);
    if (disk === undefined) {
      test.pass('left out: mounting a small disk is not allowed here; the injected ENOSPC below stands for it');
      return;
    }
    const believing = { freeBytes: async () => Number.MAX_SAFE_INTEGER };
    for (const [name, reserveBytes, changes] of [
      ['the system refuses', 0, believing],
      ['without a reserve', 0, {}],
      ['with a reserve', 1_000_000, {}],
    ] as const) {
      const folder = join(disk, name.replaceAll(' ', '-'));
      const ballast = join(disk, 'ballast');
      await writeFile(ballast, Buffer.alloc(4_000_000));
      const registry = new Registry();
      const log = await startLog(test, folder, { reserveBytes, segmentBytes: 500_000, registry, ...changes });
      await log.ensureTopics([topicSpec('logs')]);
      const { acknowledged, waiting } = await appendUntilRefused(log, 100);
      test.ok(acknowledged > 500, `${name}: ${acknowledged} records before the disk was full`);
      test.match(log.writable(), { ok: false, reason: /disk of the topics is full/ });
      test.ok((await metricValue(registry, 'sluice_topic_appends_refused_total', { reason: 'disk_full' })) > 0);
      const keys = createRecords(0, acknowledged + 100).map((record) => record.key);
      test.same(await keysOf(log), keys.slice(0, acknowledged));
      await rm(ballast);
      await waiting;
      test.equal(log.writable().ok, true);
      await log.stop(5000);
      const next = await startLog(test, folder, { reserveBytes });
      test.same(await keysOf(next), keys);
      await next.stop(5000);
      await rm(folder, { recursive: true });
    }
  },
);

t.test('a write that fails, is short or cannot be synced is done again as a whole', async (test) => {
  for (const [name, code, faulty] of [
    ['write fails', 'EIO', 'write'],
    ['no space', 'ENOSPC', 'write'],
    ['sync fails', 'EIO', 'sync'],
    ['short writes', '', 'short'],
  ] as const) {
    const folder = await createFolder(test);
    const registry = new Registry();
    let failures = 0;
    const log = await startLog(test, folder, {
      registry,
      faults: {
        beforeWrite: (bytes) => {
          if (faulty === 'short') return Math.ceil(bytes / 3);
          if (faulty === 'write' && failures > 0) {
            failures -= 1;
            // The first half of the frame gets to the file before the failure.
            if (failures % 2 === 1) return Math.ceil(bytes / 2);
            throw failWith(code);
          }
          return bytes;
        },
        beforeSync: () => {
          if (faulty !== 'sync' || failures === 0) return;
          failures -= 1;
          throw failWith(code);
        },
      },
    });
    await log.ensureTopics([topicSpec('logs')]);
    await log.append('logs', 0, createRecords(0, 50));
    failures = 2;
    await log.append('logs', 0, createRecords(50, 50));
    await log.append('logs', 0, createRecords(100, 50));
    test.equal(failures, faulty === 'short' ? 2 : 0, name);
    test.equal((await metricValue(registry, 'sluice_topic_appends_refused_total')) > 0, faulty !== 'short', name);
    await log.stop(1000);
    const next = await startLog(test, folder);
    test.same(
      await keysOf(next),
      createRecords(0, 150).map((record) => record.key),
      name,
    );
    test.same(
      (await readAll(next, 'logs')).map(({ offset }) => offset),
      Array.from({ length: 150 }, (_, index) => index),
      name,
    );
  }
});

t.test('the reserve is kept by the free space that the system tells, before anything is written', async (test) => {
  const folder = await createFolder(test);
  let [free, writes] = [1_000_000, 0];
  const log = await startLog(test, folder, {
    reserveBytes: 1_000_000,
    freeBytes: async () => free,
    faults: {
      beforeWrite: (bytes) => {
        writes += 1;
        return bytes;
      },
    },
  });
  await log.ensureTopics([topicSpec('logs')]);
  const { acknowledged, waiting } = await appendUntilRefused(log, 1);
  test.equal(acknowledged, 0);
  test.equal(writes, 0);
  free = 100_000_000;
  await waiting;
  test.equal(log.writable().ok, true);
  test.equal(writes, 1);
});

t.test('a stop while appends wait for room rejects them at the deadline, and closes', async (test) => {
  const folder = await createFolder(test);
  const log = await startLog(test, folder, { reserveBytes: 1_000_000, freeBytes: async () => 10 });
  await log.ensureTopics([topicSpec('logs')]);
  const waiting = [log.append('logs', 0, createRecords(0, 1)), log.append('logs', 0, createRecords(1, 1))].map(
    (append) => test.rejects(append, { code: 'TOPIC_LOG_STOPPED' }),
  );
  await log.stop(100);
  await Promise.all(waiting);
  const next = await startLog(test, folder);
  test.same(await keysOf(next), []);
});
