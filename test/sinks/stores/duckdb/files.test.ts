/** What the embedded store does with its files, its worker thread and its limits. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { QueryNode } from '../../../../schemas/query.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import type { DuckStoreOptions } from '../../../../sinks/stores/duckdb/store.js';
import { batchOf, indexOptions, samples } from '../contract/contract.js';
import { openStoreIn } from './support/open-store.js';

t.setTimeout(90_000);

const all: QueryNode = { kind: 'all' };
const exitProcess = fileURLToPath(new URL('./support/exit-process.js', import.meta.url));

function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice 'store' "));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const startIn = (t: Test, folder: string, more: Partial<DuckStoreOptions> = {}): Promise<IndexStore> =>
  openStoreIn(t, folder, { memoryBytes: 512 * 2 ** 20, checkpointBytes: 64 * 2 ** 20, ...more });

t.test('a corrupt file blocks its index and no other', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'indices'));
  writeFileSync(join(folder, 'indices', 'set_1.duckdb'), 'this is not a database '.repeat(1000));
  const store = await startIn(t, folder);
  await store.indices.create('set_2', indexOptions('set'));
  t.match(await store.documents.write(batchOf('set_2', samples(3))), { stored: 3 });
  await t.rejects(store.documents.write(batchOf('set_1', samples(3))), {
    code: 'STORE_INDEX_BLOCKED',
    retryable: true,
  });
  t.match(await store.queries.search({ indices: ['set_1', 'set_2'], query: all, limit: 10 }), {
    total: 3,
    skipped: ['set_1'],
  });
  t.same(
    (await store.indices.list('set')).map((info) => [info.name, info.documents]),
    [
      ['set_1', 0],
      ['set_2', 3],
    ],
  );
  t.match(await store.health(), { ok: true, reason: /set_1 is blocked/ });
  await store.indices.delete('set_1');
  t.same(await store.health(), { ok: true, reason: 'ok' });
});

t.test(
  'each write says the bytes of its index with those to come, and a checkpoint folds the log into the file',
  async (t) => {
    const folder = temporaryFolder(t);
    const store = await startIn(t, folder);
    await store.indices.create('set_1', indexOptions('set'));
    let bytes = 0;
    for (let first = 0; first < 10_000; first += 2000) {
      const documents = samples(2000, first).map((document) => ({
        ...document,
        message: 'a long message that compresses well, '.repeat(15),
      }));
      ({ indexBytes: bytes = 0 } = await store.documents.write(batchOf('set_1', documents, first)));
    }
    const [info] = await store.indices.list('set');
    t.equal((info?.bytes ?? 0) + (info?.pendingBytes ?? 0), bytes);
    t.ok((info?.pendingBytes ?? 0) > 0, 'its words are to come');
    await store.indices.checkpoint('set_1');
    const folded = (await store.indices.list('set'))[0]?.bytes ?? 0;
    t.ok(folded > 0 && folded < bytes / 2, `${bytes} with the log, ${folded} after`);
    t.equal((await store.queries.search({ indices: ['set_1'], query: all, limit: 1 })).total, 10_000);
  },
);

t.test('deleted indices leave no file, and leftovers of a crash are swept', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'indices'));
  writeFileSync(join(folder, 'indices', 'gone_1.duckdb.wal'), 'x');
  writeFileSync(join(folder, 'indices', 'gone_1.duckdb.closed'), 'x');
  const store = await startIn(t, folder);
  await store.indices.create('set_1', indexOptions('set'));
  await store.documents.write(batchOf('set_1', samples(10)));
  await store.indices.delete('set_1');
  t.same(readdirSync(join(folder, 'indices')), []);
});

t.test('more indices than may be attached at once', async (t) => {
  const store = await startIn(t, temporaryFolder(t), { attachedIndices: 3 });
  const names = Array.from({ length: 8 }, (_, at) => `many_${at}`);
  for (const name of names) await store.indices.create(name, indexOptions('many'));
  await Promise.all(names.map((name) => store.documents.write(batchOf(name, samples(20)))));
  t.equal((await store.queries.search({ indices: names, query: all, limit: 10 })).total, 160);
  t.same(
    (await store.indices.list('many')).map((info) => info.documents),
    names.map(() => 20),
  );
  await Promise.all(names.map((name) => store.documents.write(batchOf(name, samples(30)))));
  t.equal((await store.queries.search({ indices: names, query: all, limit: 10 })).total, 240);
});

t.test('a search over a range of time leaves the files of other times alone', async (t) => {
  const folder = temporaryFolder(t);
  const store = await startIn(t, folder, { attachedIndices: 1 });
  for (const name of ['set_1', 'set_2']) await store.indices.create(name, indexOptions('set'));
  await store.documents.write(batchOf('set_1', samples(100)));
  await store.documents.write(batchOf('set_2', samples(100, 100), 100));
  // The first one had to make room for the second: now it cannot be attached again.
  writeFileSync(join(folder, 'indices', 'set_1.duckdb'), 'this is not a database '.repeat(1000));
  const since = (number: number) => ({
    indices: ['set_1', 'set_2'],
    query: all,
    from: Date.UTC(2026, 0, 1) + number * 1000,
  });
  t.match(await store.queries.search({ ...since(100), limit: 10 }), { total: 100, skipped: [] });
  t.match(await store.queries.aggregate({ ...since(150), groups: [], metrics: [{ kind: 'count' }] }), {
    total: 50,
    skipped: [],
  });
  t.match(
    await store.queries.search({ ...since(99), limit: 10 }),
    { total: 100, skipped: ['set_1'] },
    'one of its rows lies in the range',
  );
  const before = { ...since(0), from: undefined, to: Date.UTC(2026, 0, 1) };
  t.match(await store.queries.search({ ...before, limit: 10 }), { total: 0, skipped: [] }, 'no row is that old');
  const old = { ...samples(1)[0], timestamp: '2025-12-31T23:59:59.000Z' };
  await store.documents.write(batchOf('set_2', [old], 200));
  t.match(await store.queries.search({ ...before, limit: 10 }), { total: 1, skipped: [] }, 'one that came later is');
});

t.test('small writes wait for the other partitions that wrote lately, and only for those', async (t) => {
  const folder = temporaryFolder(t);
  const store = await startIn(t, folder, { lingerMs: 120_000 });
  await store.indices.create('set_1', indexOptions('set'));
  const found = async (): Promise<number> =>
    (await store.queries.search({ indices: ['set_1'], query: all, limit: 0 })).total;
  const small = (partition: number, first: number) =>
    store.documents.write(batchOf('set_1', samples(10, first), first, partition));
  await small(0, 0);
  await small(0, 10);
  t.equal(await found(), 20, 'who is alone never waits');
  const waits = small(1, 0);
  await store.documents.markers('set_1', 'logs', 1);
  t.equal(await found(), 20, 'the other partition has not come again');
  t.match(await Promise.all([waits, small(0, 20)]), [{ stored: 10 }, { stored: 10 }]);
  await store.documents.write(batchOf('set_1', samples(2_500, 30), 30, 0));
  t.equal(await found(), 2_540, 'many documents wait for nobody');
  const last = small(1, 10);
  await store.stop(5_000);
  t.match(await last, { stored: 10 }, 'what waits is written at a stop');
});

t.test('a running search is cancelled by its signal, and writes do not wait for it', async (t) => {
  const store = await startIn(t, temporaryFolder(t));
  await store.indices.create('set_1', indexOptions('set'));
  for (let batch = 0; batch < 6; batch += 1)
    await store.documents.write(batchOf('set_1', samples(5000, batch * 5000), batch * 5000));
  const slow: QueryNode = { kind: 'regex', field: 'message', pattern: '(?:[^z]*e){2,}r?' };
  const controller = new AbortController();
  const search = store.queries.search({ indices: ['set_1'], query: slow, limit: 10, signal: controller.signal });
  const cancelled = t.rejects(search, { code: 'STORE_SEARCH_CANCELLED' });
  t.match(await store.documents.write(batchOf('set_1', samples(10, 30_000), 30_000)), { stored: 10 });
  controller.abort();
  await cancelled;
});

t.test('a stopped store refuses, and may be stopped again', async (t) => {
  const store = await startIn(t, temporaryFolder(t));
  await store.indices.create('set_1', indexOptions('set'));
  const last = store.documents.write(batchOf('set_1', samples(100)));
  await store.stop(5000);
  t.match(await last, { stored: 100 }, 'what was accepted before is written');
  await store.stop(5000);
  await t.rejects(store.documents.write(batchOf('set_1', samples(1))), { code: 'STORE_STOPPED' });
  t.match(await store.health(), { ok: false });
});

t.test('names that are no file names are refused', async (t) => {
  const folder = temporaryFolder(t);
  const store = await startIn(t, folder);
  for (const name of ['', '../up_1', 'a/b_1', '.hidden_1', `${'x'.repeat(300)}_1`])
    await t.rejects(
      store.indices.create(name, indexOptions('a')),
      { code: 'STORE_INDEX_NAME_INVALID' },
      name.slice(0, 20),
    );
  t.notOk(existsSync(join(folder, 'up_1.duckdb')));
});

t.test('an expression that the engine does not take is an error of the query', async (t) => {
  const store = await startIn(t, temporaryFolder(t));
  await store.indices.create('set_1', indexOptions('set'));
  await store.documents.write(batchOf('set_1', samples(10)));
  await t.rejects(
    store.queries.search({ indices: ['set_1'], query: { kind: 'regex', field: 'source', pattern: '(' }, limit: 1 }),
    { code: 'STORE_QUERY_INVALID' },
  );
});

for (const work of ['search', 'write']) {
  t.test(`a process that ends during a ${work} ends with its own exit code`, async (t) => {
    const code = await new Promise((resolve) => {
      execFile(process.execPath, [exitProcess, temporaryFolder(t), work], (error) =>
        resolve(error === null ? 0 : (error.code ?? error.signal)),
      );
    });
    t.equal(code, 3);
  });
}
