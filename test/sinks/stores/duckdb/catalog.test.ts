/** What the embedded store does with its files and its memory beside reading and writing them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { capacityOf } from '../../../../sinks/stores/duckdb/files/capacity.js';
import { Catalog } from '../../../../sinks/stores/duckdb/files/catalog.js';
import { wordDefaults } from '../../../../sinks/stores/duckdb/words/options.js';
import { batchOf, idOf } from '../contract/contract.js';
import { createIndex, openStoreIn } from './support/open-store.js';

t.setTimeout(120_000);

const mebibyte = 2 ** 20;
const memoryBytes = 512 * mebibyte;

function folderOf(t: { teardown(action: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-catalog-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

t.test('a file that nobody has used for a while is detached, and there again when it is asked for', async (t) => {
  const catalog = new Catalog(
    {
      folder: folderOf(t),
      memoryBytes,
      threads: 1,
      checkpointBytes: 16 * mebibyte,
      lingerMs: 0,
      retainedBytes: 2 ** 20,
      attachedIndices: 64,
      words: wordDefaults,
    },
    () => undefined,
  );
  t.teardown(() => catalog.close());
  await catalog.open();
  await catalog.create('logs_0');
  const entry = catalog.need('logs_0');
  await catalog.detachIdle(60_000, 100);
  t.ok(entry.file, 'it has just been used');
  entry.readers += 1;
  await catalog.detachIdle(-1, 100);
  t.ok(entry.file, 'somebody reads it');
  entry.readers -= 1;
  await catalog.detachIdle(-1, 100);
  t.notOk(entry.file);
  t.same(entry.facts?.documents, 0, 'what is known of it stays');
  const file = await catalog.attached(entry);
  file.documents += 101;
  await catalog.detachIdle(60_000, 100);
  t.ok(entry.file !== undefined && entry.file !== file, 'one that has grown is attached anew');
});

t.test('threads and writes at once are those that the memory has room for', (t) => {
  t.same(capacityOf(1536 * mebibyte, 2), { transactions: 4, threads: 2 }, 'as shipped, on two cores');
  t.same(capacityOf(1536 * mebibyte, 64), { transactions: 4, threads: 8 }, 'as shipped, on many');
  t.same(capacityOf(256 * mebibyte, 8), { transactions: 1, threads: 1 }, 'the least');
  t.same(capacityOf(64 * 1024 * mebibyte, 16), { transactions: 4, threads: 16 });
  t.end();
});

t.test(
  'a commit that ran out of memory ends the thread, and nothing else is done first; other failures do not',
  (t) => {
    const module = JSON.stringify(
      pathToFileURL(join(import.meta.dirname, '..', '..', '..', '..', 'sinks', 'stores', 'duckdb', 'failures.js')).href,
    );
    const outcome = (message: string): { readonly status: number | null; readonly output: string } => {
      const script = `import { endIfDamaged } from ${module}; try { endIfDamaged(new Error(${JSON.stringify(message)})); console.log('goes on'); } catch (error) { console.log(error.code); }`;
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        encoding: 'utf8',
      });
      return { status, output: stdout + stderr };
    };
    const ended = outcome(
      'TransactionContext Error: Failed to commit: failed to pin block of size 256.0 KiB (48.1 MiB/48.0 MiB used)',
    );
    t.match(ended, { status: 1, output: /^STORE_UNAVAILABLE\n[\s\S]*store\.embedded\.memory_bytes/ });
    t.match(outcome('Failed to append: failed to allocate data of size 32.0 KiB (47.9 MiB/48.0 MiB used)'), {
      status: 0,
      output: 'goes on',
    });
    t.match(outcome('TransactionContext Error: Failed to commit: No space left on device'), {
      status: 0,
      output: 'goes on',
    });
    t.end();
  },
);

t.test('messages of a large index are found by their ids, looked for again and again while others come', async (t) => {
  const store = await openStoreIn(t, folderOf(t), { memoryBytes });
  const index = await createIndex(store);
  const rows = 60_000;
  const batch = 10_000;
  const fill = async (first: number, partition: number): Promise<void> => {
    const documents = Array.from({ length: batch }, (_, at) => ({
      message: `number ${first + at} of ${partition}`,
      source: 'h',
      timestamp: new Date(1_760_000_000_000 + first + at).toISOString(),
    }));
    await store.documents.write(batchOf(index, documents, first, partition));
  };
  for (let first = 0; first < rows; first += batch) for (const partition of [0, 1]) await fill(first, partition);
  const look = async (numbers: readonly (readonly [number, number])[]): Promise<void> => {
    const found = await store.documents.read(
      index,
      numbers.map(([number, partition]) => `${idOf(number)}-${partition}`),
    );
    t.same(
      [...found.values()].map(({ document }) => document['message']).sort(),
      numbers
        .filter(([number]) => number < rows + 2 * batch)
        .map(([number, partition]) => `number ${number} of ${partition}`)
        .sort(),
    );
  };
  for (let round = 0; round < 5; round += 1) {
    await look([[0, 0]]);
    await look([
      [59_999, 1],
      [31_234, 0],
      [8_191, 1],
      [8_192, 1],
    ]);
    await look([[900_000, 0]]);
    await look(Array.from({ length: 60 }, (_, at) => [at * 997, at % 2] as const));
  }
  await fill(rows, 0);
  await look([
    [rows + 77, 0],
    [5, 1],
  ]);
  await fill(rows + batch, 0);
  await look([
    [rows + 77, 0],
    [rows + batch + 77, 0],
    [5, 1],
  ]);
});
