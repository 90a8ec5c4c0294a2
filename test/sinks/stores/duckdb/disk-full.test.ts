/** A full disk: writes are refused, what was acknowledged stays, and it goes on when there is room. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isSluiceError } from '../../../../core/errors.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import type { DuckStoreOptions } from '../../../../sinks/stores/duckdb/store.js';
import { batchOf, idOf, indexOptions, samples } from '../contract/contract.js';
import { createSmallStore } from './support/open-store.js';

t.setTimeout(90_000);

function storeIn(folder: string, more: Partial<DuckStoreOptions> = {}): IndexStore {
  return createSmallStore(folder, { checkpointBytes: 4 * 2 ** 20, ...more });
}

async function ids(store: IndexStore, index: string): Promise<string[]> {
  const seen: string[] = [];
  await store.queries.scanIds([index], (page) => {
    seen.push(...page);
  });
  return seen.sort();
}

function below(next: number): string[] {
  return Array.from({ length: next }, (_, offset) => `${idOf(offset)}-0`).sort();
}

t.test('a write that would use the reserve is refused before it begins', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-reserve-'));
  let free = 10e9;
  const store = storeIn(folder, { reserveBytes: 1e9, freeBytes: () => free });
  t.teardown(async () => {
    await store.stop(5000);
    rmSync(folder, { recursive: true, force: true });
  });
  await store.start();
  await store.indices.create('full_0', indexOptions('full'));
  await store.documents.write(batchOf('full_0', samples(10)));
  t.match(await store.health(), { ok: true });
  free = 1e9 + 1000;
  await t.rejects(store.documents.write(batchOf('full_0', samples(10, 10), 10)), {
    code: 'STORE_DISK_FULL',
    retryable: true,
  });
  t.equal(
    (await store.queries.search({ indices: ['full_0'], query: { kind: 'all' }, limit: 1 })).total,
    10,
    'searches go on',
  );
  free = 5e8;
  t.match(await store.health(), { ok: false, reason: /reserve/ });
  free = 10e9;
  t.match(await store.documents.write(batchOf('full_0', samples(20))), { stored: 10, alreadyStored: 10 });
});

/** A small file system of its own; undefined where mounting is not allowed. */
function mountSmall(t: Test, bytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  t.teardown(() => {
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

t.test('a disk that is full below the engine', { timeout: 60_000 }, async (t) => {
  const folder = mountSmall(t, 36 * 2 ** 20);
  if (folder === undefined) {
    t.comment('left out: mounting a small file system is not allowed here');
    return;
  }
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(16 * 2 ** 20));
  const blind = { freeBytes: () => 1e12 };
  let store = storeIn(folder, blind);
  t.teardown(() => store.stop(5000));
  await store.start();
  await store.indices.create('full_0', indexOptions('full'));
  let next = 0;
  const codes = new Map<string, string>();
  /** Writes batches that do not compress until one is refused. */
  const writeOn = async (batches: number): Promise<void> => {
    for (let batch = 0; batch < batches; batch += 1) {
      const documents = samples(200, next).map((document) => ({
        ...document,
        filler: randomBytes(600).toString('base64'),
      }));
      try {
        await store.documents.write(batchOf('full_0', documents, next));
        next += documents.length;
      } catch (thrown) {
        codes.set(isSluiceError(thrown) ? thrown.code : 'untyped', String(thrown));
        return;
      }
    }
  };
  await writeOn(500);
  t.same([...codes.keys()], ['STORE_DISK_FULL'], `after ${next} documents`);
  for (let again = 0; again < 3; again += 1) await writeOn(1);
  const check = async (t: Test): Promise<void> => {
    const marker = (await store.documents.markers('full_0', 'logs', 1)).get(0) ?? 0;
    t.ok(marker >= next, `marker ${marker}, acknowledged ${next}`);
    t.strictSame(await ids(store, 'full_0'), below(marker));
    next = marker;
  };
  rmSync(join(folder, 'ballast'));
  await t.test('what was acknowledged is there once there is room', check);
  const stuck = next;
  codes.clear();
  await writeOn(3);
  t.equal(next, stuck + 600, `and it goes on ${[...codes.values()].join()}`);
  await store.stop(5000);
  store = storeIn(folder, blind);
  await store.start();
  await t.test('also after a restart', check);
});
