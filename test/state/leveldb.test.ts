import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLog } from '../../core/log.js';
import type { StateStore } from '../../state/contract.js';
import { createLevelState } from '../../state/leveldb.js';
import { testStateStore, type StatePlace } from './contract.js';

const valueOf = (key: string) => 'x'.repeat(50_000) + key;

async function createFolder(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-state-'));
  test.teardown(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'state');
}

async function createPlace(test: Test): Promise<StatePlace> {
  const folder = await createFolder(test);
  return {
    async open() {
      const state = createLevelState({ folder, log: silentLog });
      test.teardown(() => state.stop(1000));
      await state.start();
      return state;
    },
  };
}

await testStateStore(t, { name: 'leveldb', createPlace });

await t.test('a second process is told that the folder is in use', async (test) => {
  const place = await createPlace(test);
  const folder = await createFolder(test);
  await (await place.open()).put('key', 1, undefined);
  const first = createLevelState({ folder, log: silentLog });
  await first.start();
  test.teardown(() => first.stop(1000));
  const second = createLevelState({ folder, log: silentLog });
  await test.rejects(second.start(), { code: 'STATE_FOLDER_IN_USE' });
  await second.stop(1000);
  await first.put('key', 1, undefined);
});

await t.test('a folder that cannot be made is one clear error, and stop without start is safe', async (test) => {
  const folder = await createFolder(test);
  await writeFile(folder, 'a file stands where the folder should be');
  const state = createLevelState({ folder: join(folder, 'state'), log: silentLog });
  await test.rejects(state.start(), { code: 'STATE_FOLDER_UNUSABLE' });
  await state.stop(1000);
});

await t.test('on a full disk a put is refused, what was put stays, and it goes on when there is room', async (test) => {
  for (const [name, reserveBytes] of [
    ['without a reserve', 0],
    ['with a reserve', 1_500_000],
  ] as const) {
    const folder = await createSmallDisk(test, 8_000_000);
    if (folder === undefined) {
      test.pass('left out: mounting a small disk is not allowed here');
      return;
    }
    const state = createLevelState({ folder: join(folder, 'state'), log: silentLog, reserveBytes });
    await state.start();
    test.teardown(() => state.stop(1000));
    await writeFile(join(folder, 'ballast'), Buffer.alloc(5_000_000));
    const put = await putUntilRefused(test, state);
    test.ok(put.length > 0 && put.length < 200, `${name}: ${put.length} puts before the disk was full`);
    if (reserveBytes > 0)
      test.equal((await state.get('key/0'))?.value, valueOf('key/0'), 'it can be read while the disk is full');
    await rm(join(folder, 'ballast'));
    for (const key of put) test.equal((await state.get(key))?.value, valueOf(key));
    test.equal((await state.list('key/')).length, put.length, 'what was refused is not there');
    const after = await state.put(`key/${put.length}`, 'after', undefined);
    test.same(await state.get(after.key), after);
    await state.stop(1000);
    await state.start();
    test.equal((await state.list('')).length, put.length + 1);
  }
});

async function createSmallDisk(test: Test, bytes: number): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-state-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).status === 0;
  test.teardown(async () => {
    if (mounted) spawnSync('umount', [folder]);
    await rm(folder, { recursive: true, force: true });
  });
  return mounted ? folder : undefined;
}

/** Puts values of 50 kB until one is refused; returns the keys that were put. */
async function putUntilRefused(test: Test, state: StateStore): Promise<string[]> {
  const put: string[] = [];
  while (put.length < 200) {
    const key = `key/${put.length}`;
    try {
      await state.put(key, valueOf(key), undefined);
      put.push(key);
    } catch (thrown) {
      test.match(thrown, { retryable: true });
      return put;
    }
  }
  return put;
}
