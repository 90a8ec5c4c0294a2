import { renameSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../../program.js';
import { drained, parkingFolder, parkingRules, reconciles, startParkingRig } from './rig.js';

t.test('retention removes what no parked message is bound for, and keeps the rest', async (t) => {
  const rig = await startParkingRig(t, parkingFolder(t), parkingRules({ type: 'delete', max_indices: 1 }));
  const { indexSets } = rig.processor;
  const names = async (): Promise<string[]> => (await rig.store.indices.list('sluice_default')).map(({ name }) => name);
  await rig.send(3);
  await rig.settled();
  await indexSets.rotateNow('sluice_default');
  rig.blocked.add('sluice_default_1');
  const parked = await rig.send(5);
  await rig.settled();
  await indexSets.rotateNow('sluice_default');
  await rig.send(5);
  await rig.settled();
  await until(
    async () => (await indexSets.checkRetention(), (await names()).length === 2 ? true : undefined),
    5_000,
    rig.explain,
  );
  t.same(
    await names(),
    ['sluice_default_1', 'sluice_default_2'],
    'the first index goes, the one with parked messages stays',
  );
  rig.blocked.clear();
  await until(async () => ((await rig.ids()).length === 10 ? true : undefined), 10_000, rig.explain);
  t.ok((await rig.ids()).includes(parked[0] ?? ''));
  await until(
    async () => (await indexSets.checkRetention(), (await names()).length === 1 ? true : undefined),
    10_000,
    rig.explain,
  );
  t.same(await names(), ['sluice_default_2']);
});

t.test('a closed index parks its set, alarms, and drains when it is opened', async (t) => {
  const rig = await startParkingRig(t, parkingFolder(t));
  const sent = [...(await rig.send(5))];
  await rig.settled();
  await rig.store.indices.close('sluice_default_0');
  sent.push(...(await rig.send(5)));
  const other = await rig.send(5, 'other');
  await rig.settled();
  t.same(await rig.ids('other'), other);
  t.match((await rig.processor.parking.list())[0], { state: 'blocked', code: 'STORE_INDEX_CLOSED', messages: 5 });
  t.ok(
    rig.logged.some(({ level, index }) => level === 50 && index === 'sluice_default_0'),
    'said as an error',
  );
  t.equal(await rig.metric('sluice_parking_index_missing_total', 'sluice_default'), 1);
  await rig.store.indices.open('sluice_default_0');
  await drained(rig);
  t.same(await rig.ids(), sent);
  await reconciles(t, rig, ['sluice_default']);
});

t.test(
  'an index that is missing is given up by an operator: what waits for it becomes dead letters, the set goes on',
  async (t) => {
    const folder = parkingFolder(t);
    const first = await startParkingRig(t, folder);
    await first.send(5);
    await first.settled();
    await first.stop();
    const file = join(folder, 'store', 'indices', 'sluice_default_0.duckdb');
    renameSync(file, join(folder, 'away'));
    const rig = await startParkingRig(t, folder);
    const lost = await rig.send(6);
    const other = await rig.send(5, 'other');
    await rig.settled();
    t.same(await rig.ids('other'), other, 'the other set goes on');
    t.match((await rig.processor.parking.list())[0], { state: 'blocked', code: 'STORE_INDEX_MISSING', messages: 6 });
    await t.rejects(rig.processor.abandonIndex('other_0'), { code: 'PARKING_INDEX_PRESENT' });
    await t.rejects(rig.processor.abandonIndex('nothing_0'), { code: 'PARKING_INDEX_UNKNOWN' });
    t.same(await rig.processor.abandonIndex('sluice_default_0'), {
      index: 'sluice_default_0',
      index_set: 'sluice_default',
      rotated: true,
    });
    const kept = await rig.send(4);
    await drained(rig);
    await rig.settled();
    t.same(await rig.ids(), kept, 'newer messages are in the next index');
    await until(
      async () => ((await rig.ids('sluice_dead_letters')).length === 6 ? true : undefined),
      10_000,
      rig.explain,
    );
    t.same(
      await rig.ids('sluice_dead_letters'),
      lost.map((id) => `${id}@sluice_default`),
    );
    await reconciles(t, rig, ['sluice_default', 'sluice_dead_letters']);
    await rig.stop();
    renameSync(join(folder, 'away'), file);
    const again = await startParkingRig(t, folder);
    await again.send(1);
    await again.settled();
    t.equal((await again.ids()).length, 5 + 4 + 1, 'an index that comes back is read, and not written');
  },
);
