/** The folder of the embedded topics: one writer at a time, clear refusals, safe lifetimes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createRecords, readAll, topicSpec } from '../collect.js';
import { createFolder, createLog, startLog } from './folder.js';

const writer = fileURLToPath(new URL('./crash-writer.js', import.meta.url));

t.test('a second writer is refused and told the process; after the stop the folder is free', async (test) => {
  const folder = await createFolder(test);
  const first = await startLog(test, folder);
  const second = createLog(test, folder);
  await test.rejects(second.start(), { code: 'TOPIC_FOLDER_IN_USE', message: new RegExp(`process ${process.pid}\\b`) });
  await second.stop(100);
  await first.ensureTopics([topicSpec('logs')]);
  await first.append('logs', 0, createRecords(0, 1));
  await first.stop(1000);
  test.notOk((await readdir(folder)).some((name) => name.startsWith('lock')));
  await startLog(test, folder);
});

t.test('a writing process keeps others out, and its lock is taken over when it was killed', async (test) => {
  const folder = await createFolder(test);
  const child = spawn(process.execPath, [writer, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  await test.rejects(createLog(test, folder).start(), {
    code: 'TOPIC_FOLDER_IN_USE',
    message: new RegExp(`process ${child.pid}\\b`),
  });
  child.kill('SIGKILL');
  child.stdout.resume();
  await once(child, 'close');
  const log = await startLog(test, folder);
  test.ok((await readAll(log, 'logs', 0)).length + (await readAll(log, 'logs', 1)).length > 0);
});

t.test(
  'the lock of a process that has ended is taken over: its id unused, given to another process, or unreadable',
  async (test) => {
    const folder = await createFolder(test);
    const log = await startLog(test, folder);
    const own = JSON.parse(await readFile(join(folder, 'lock'), 'utf8')) as { started: string };
    await log.stop(1000);
    for (const content of [
      JSON.stringify({ ...own, pid: 2 ** 22 + 1 }),
      JSON.stringify({ ...own, started: '1' }),
      'null',
      '',
    ]) {
      await writeFile(join(folder, 'lock'), content);
      const next = await startLog(test, folder);
      await next.stop(1000);
    }
  },
);

t.test(
  'a process of another container keeps the folder while it touches its lock, and loses it when it does not',
  async (test) => {
    const folder = await createFolder(test);
    const lock = join(folder, 'lock');
    const other = JSON.stringify({ pid: process.pid, started: '1', world: 'another', id: 'other' });
    await writeFile(lock, other);
    const timer = setInterval(() => {
      const now = new Date();
      utimes(lock, now, now).catch(() => {});
    }, 200);
    await test.rejects(createLog(test, folder).start(), { code: 'TOPIC_FOLDER_IN_USE', message: /another container/ });
    clearInterval(timer);
    test.equal(await readFile(lock, 'utf8'), other);
    await startLog(test, folder);
  },
);

t.test('what was written by a newer version is refused with a sentence, what cannot be read too', async (test) => {
  const folder = await createFolder(test);
  const log = await startLog(test, folder);
  await log.ensureTopics([topicSpec('logs')]);
  await log.stop(1000);
  const file = join(folder, 'topics', 'logs', 'topic.json');
  const content = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  for (const [text, code] of [
    [JSON.stringify({ ...content, format_version: 2 }), 'TOPIC_FORMAT_NEWER'],
    ['{', 'TOPIC_FILE_CORRUPT'],
    ['{}', 'TOPIC_FILE_CORRUPT'],
  ] as const) {
    await writeFile(file, text);
    await test.rejects(createLog(test, folder).start(), { code });
    await test.rejects(createLog(test, folder, { readOnly: true }).partitions('logs'), { code });
  }
  await writeFile(file, JSON.stringify(content));
  await startLog(test, folder);
});

t.test('a folder that cannot be made is one clear error', async (test) => {
  const folder = await createFolder(test);
  await writeFile(join(folder, 'file'), '');
  await test.rejects(createLog(test, join(folder, 'file', 'topics')).start(), { code: 'TOPIC_FOLDER_UNWRITABLE' });
  if (process.getuid?.() === 0) return;
  await chmod(folder, 0o500);
  await test.rejects(createLog(test, join(folder, 'topics')).start(), { code: 'TOPIC_FOLDER_UNWRITABLE' });
});

t.test(
  'stop is safe without start and twice; before start and after stop everything that writes is refused',
  async (test) => {
    const folder = await createFolder(test);
    const log = createLog(test, folder);
    await test.rejects(log.ensureTopics([topicSpec('logs')]), { code: 'TOPIC_LOG_NOT_STARTED' });
    await test.rejects(log.append('logs', 0, createRecords(0, 1)), { code: 'TOPIC_LOG_NOT_STARTED' });
    test.equal(log.writable().ok, false);
    await log.stop(100);
    await log.stop(100);
    await test.rejects(log.start(), { code: 'TOPIC_LOG_STOPPED' });
    test.equal(log.writable().ok, false);
    test.same(await readdir(folder), [], 'nothing was written');
  },
);

t.test('a log opened for reading creates nothing and refuses to write', async (test) => {
  const folder = await createFolder(test);
  const log = createLog(test, folder, { readOnly: true });
  await log.start();
  await test.rejects(log.ensureTopics([topicSpec('logs')]), { code: 'TOPIC_READ_ONLY' });
  await test.rejects(log.append('logs', 0, createRecords(0, 1)), { code: 'TOPIC_READ_ONLY' });
  await test.rejects(
    log.consume(
      { group: 'g', topics: [], maxBatchBytes: 1, maxBatchRecords: 1, concurrency: 1 },
      { assigned: async () => {}, batch: async () => ({ commit: 0, metadata: '' }), revoked: () => {} },
    ),
    { code: 'TOPIC_READ_ONLY' },
  );
  await test.rejects(log.partitions('logs'), { code: 'TOPIC_UNKNOWN' });
  test.same(await readdir(folder), []);
});

t.test('names that cannot be file names are refused', async (test) => {
  const log = await startLog(test, await createFolder(test));
  for (const name of ['', '.', '..', 'a/b', 'a\0b', 'x'.repeat(201), 'Grüße']) {
    await test.rejects(log.ensureTopics([topicSpec(name)]), { code: 'TOPIC_NAME_INVALID' });
    await test.rejects(log.committed(name, 'logs'), { code: 'TOPIC_NAME_INVALID' });
  }
  await log.ensureTopics([topicSpec('sluice.parking.sluice_default')]);
});

t.test('a start counts as a new generation of every group', async (test) => {
  const folder = await createFolder(test);
  for (const expected of [1, 2, 3]) {
    const log = await startLog(test, folder);
    test.equal(
      (JSON.parse(await readFile(join(folder, 'starts.json'), 'utf8')) as { starts: number }).starts,
      expected,
    );
    await log.stop(1000);
  }
  test.ok((await stat(join(folder, 'topics'))).isDirectory());
});
