/** Retention by number, by bytes and by closing; what may not be removed yet. */
import t from 'tap';
import { until } from '../../program.js';
import { keepAll, large, rotate, rules, start } from './rig.js';

t.test('retention by number deletes the oldest, and the name is not used again', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: { type: 'delete', max_indices: 2 } }));
  for (let round = 0; round < 3; round += 1) await rotate(rig);
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_2', 'sluice_default_3']);
  await rotate(rig);
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_3', 'sluice_default_4']);
});

t.test('retention by total bytes deletes until the set fits, never the index that is written', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: { type: 'delete', max_total_size: '1 GB' } }));
  for (let round = 0; round < 3; round += 1) await rotate(rig);
  await rig.processor.indexSets.checkRetention();
  t.equal((await rig.names()).length, 4, 'nothing is deleted below the limit');
  const bytes = (await rig.indices()).map((info) => info.bytes);
  await rig.change(
    rules({ rotation: large, retention: { type: 'delete', max_total_size: (bytes[2] ?? 0) + (bytes[3] ?? 0) + 1000 } }),
  );
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_2', 'sluice_default_3']);
  await rig.change(rules({ rotation: large, retention: { type: 'delete', max_total_size: 1 } }));
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_3']);
});

t.test('retention by closing keeps the files and counts only open indices; none keeps everything', async (t) => {
  const rig = await start(
    t,
    rules({ rotation: large, retention: { type: 'close', max_indices: 1 } }, { rotation: large, retention: keepAll }),
  );
  for (let round = 0; round < 2; round += 1) {
    await rotate(rig);
    await rotate(rig, 'other');
  }
  await rig.processor.indexSets.checkRetention();
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [false, false, true],
  );
  t.same(
    (await rig.indices('other')).map(({ open }) => open),
    [true, true, true],
  );
  await rig.processor.indexSets.checkRetention();
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [false, false, true],
  );
});

t.test('an index that a partition may still write to is not removed', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: { type: 'delete', max_indices: 1 } }));
  await rig.deliver(1);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached = false;
  rig.faults.documents.write = async (request) => {
    reached = true;
    await held;
    return rig.store.documents.write(request);
  };
  await rig.send(5);
  await until(
    () => (reached ? true : undefined),
    5_000,
    () => 'the write did not come',
  );
  await rig.processor.indexSets.rotateNow('sluice_default');
  await rig.processor.indexSets.checkRetention();
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1'], 'five messages of the index are uncommitted');
  release();
  delete rig.faults.documents.write;
  await until(
    async () => ((await rig.processor.lag()) === 0 ? true : undefined),
    10_000,
    () => JSON.stringify(rig.logged.slice(-5)),
  );
  t.same(
    (await rig.indices()).map(({ documents }) => documents),
    [6, 0],
  );
  await until(
    async () => {
      await rig.processor.indexSets.checkRetention();
      return (await rig.names()).length === 1 ? true : undefined;
    },
    10_000,
    () => 'a partition that has become silent still holds the index',
  );
  t.same(await rig.names(), ['sluice_default_1']);
});

t.test('the cap of all indices together deletes the oldest of any set', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }), { maxTotalBytes: 1 });
  await rotate(rig);
  await rotate(rig, 'other');
  await rig.processor.indexSets.checkRetention();
  t.same([...(await rig.names()), ...(await rig.names('other'))], ['sluice_default_1', 'other_1']);
});
