import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLog } from '../../core/log.js';
import { createLevelState } from '../../state/leveldb.js';
import { testStateStore, type StatePlace } from './contract.js';

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
  const folder = await mkdtemp(join(tmpdir(), 'sluice-state-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status === 0;
  test.teardown(async () => {
    if (mounted) spawnSync('umount', [folder]);
    await rm(folder, { recursive: true, force: true });
  });
  if (!mounted) {
    test.pass('left out: mounting a small disk is not allowed here');
    return;
  }
  const state = createLevelState({ folder: join(folder, 'state'), log: silentLog });
  await state.start();
  test.teardown(() => state.stop(1000));
  const value = 'x'.repeat(50_000);
  await state.put('small', { a: 1 }, undefined);
  await writeFile(join(folder, 'ballast'), Buffer.alloc(7_500_000));
  const put: string[] = [];
  for (let refused = false; !refused && put.length < 200;) {
    const key = `key/${put.length}`;
    try {
      await state.put(key, value + key, undefined);
      put.push(key);
    } catch (thrown) {
      test.match(thrown, { retryable: true });
      refused = true;
    }
  }
  test.ok(put.length > 0 && put.length < 200, `${put.length} puts before the disk was full`);
  await rm(join(folder, 'ballast'));
  for (const key of put) test.equal((await state.get(key))?.value, value + key);
  test.equal((await state.list('key/')).length, put.length, 'what was refused is not there');
  const after = await state.put(`key/${put.length}`, 'after', undefined);
  test.same(await state.get(after.key), after);
  await state.stop(1000);
  await state.start();
  test.equal((await state.list('')).length, put.length + 2);
});
