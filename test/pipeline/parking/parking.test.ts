import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { until } from '../../program.js';
import { drained, parkingFolder, reconciles, startParkingRig } from './rig.js';
import { slowness } from '../../deadlines.js';

t.test('a blocked index set is parked, the others go on, and it drains when it answers', async (t) => {
  const rig = await startParkingRig(t, parkingFolder(t));
  const sent = [...(await rig.send(20))];
  await rig.settled();
  rig.blocked.add('sluice_default_0');
  const begun = Date.now();
  sent.push(...(await rig.send(30)));
  const others = [...(await rig.send(5, 'other'))];
  await rig.settled();
  t.ok(Date.now() - begun >= 300, 'not before its time');
  sent.push(...(await rig.send(40)));
  const both = await rig.send(10, 'both');
  await rig.settled();
  t.same(await rig.ids('other'), [...others, ...both].sort(), 'the other set is at full speed');
  t.equal((await rig.ids()).length, 20);
  const [parked] = await rig.processor.parking.list();
  t.match(parked, {
    index_set: 'sluice_default',
    state: 'blocked',
    messages: 80,
    index: 'sluice_default_0',
    code: 'STORE_INDEX_BLOCKED',
    reason: /blocked by the test/,
  });
  t.ok((parked?.bytes ?? 0) > 80 * 100);
  t.equal(await rig.metric('sluice_parking_messages', 'sluice_default'), 80);
  t.equal(await rig.metric('sluice_parking_state', 'sluice_default'), 2);
  const answered = Date.now();
  rig.blocked.clear();
  await drained(rig);
  t.ok(Date.now() - answered < 4_000 * slowness, `drained after ${Date.now() - answered} ms`);
  sent.push(...both);
  await until(
    () =>
      rig.logged.some(({ msg }) => msg === 'what was parked is drained; the index set is written again')
        ? true
        : undefined,
    5_000,
    rig.explain,
  );
  sent.push(...(await rig.send(7)));
  await rig.settled();
  t.same(await rig.ids(), sent.sort(), 'nothing missing, nothing doubled');
  t.equal(await rig.metric('sluice_documents_parked_total', 'sluice_default'), 80);
  t.equal(await rig.metric('sluice_documents_drained_total', 'sluice_default'), 80);
  t.equal(await rig.metric('sluice_parking_state', 'sluice_default'), 0);
  const topic = 'sluice.parking.sluice_default';
  await until(
    async () => {
      await rig.topics.trim(topic, 0, 80);
      return (await rig.topics.partitions(topic))[0]?.earliest === 80 ? true : undefined;
    },
    5_000,
    rig.explain,
  );
  rig.blocked.add('sluice_default_0');
  sent.push(...(await rig.send(3)));
  await rig.settled();
  rig.blocked.clear();
  await until(async () => ((await rig.ids()).length === sent.length ? true : undefined), 10_000, rig.explain);
  t.same(await rig.ids(), sent.sort(), 'parked again, in a topic without its first records');
  await reconciles(t, rig, ['sluice_default', 'other']);
});

t.test('a restart inherits what is parked; rotation and retention respect it', async (t) => {
  const folder = parkingFolder(t);
  const first = await startParkingRig(t, folder);
  const sent = [...(await first.send(10))];
  await first.settled();
  first.blocked.add('sluice_default_0');
  sent.push(...(await first.send(10)));
  await first.settled();
  await first.processor.indexSets.rotateNow('sluice_default');
  sent.push(...(await first.send(10)));
  await first.settled();
  await first.stop();
  const second = await startParkingRig(t, folder);
  second.blocked.add('sluice_default_0');
  sent.push(...(await second.send(10)));
  await second.settled();
  t.equal(
    (await second.ids()).length,
    10,
    'newer messages are parked behind older ones, although their index takes writes',
  );
  second.blocked.clear();
  await drained(second);
  t.same(await second.ids(), sent.sort());
  const documents = (await second.store.indices.list('sluice_default')).map((info) => info.documents);
  t.same(documents, [20, 20], 'each in the index of its epoch');
  await reconciles(t, second, ['sluice_default']);
});

t.test('under steady load the drain catches up, and the set is written again', async (t) => {
  const rig = await startParkingRig(t, parkingFolder(t));
  const sent: string[] = [];
  let sending = true;
  const load = (async () => {
    while (sending) {
      sent.push(...(await rig.send(50, 'both')));
      await pause(10);
    }
  })();
  rig.blocked.add('other_0');
  await until(
    async () => ((await rig.metric('sluice_documents_parked_total', 'other')) > 500 ? true : undefined),
    10_000,
    rig.explain,
  );
  t.ok((await rig.ids()).length > 0, 'the other set goes on meanwhile');
  rig.blocked.clear();
  await until(
    () =>
      rig.logged.some(({ msg }) => msg === 'what was parked is drained; the index set is written again')
        ? true
        : undefined,
    10_000,
    rig.explain,
  );
  sending = false;
  await load;
  await rig.settled();
  await drained(rig, 'other');
  t.same(await rig.ids('other'), sent);
  t.same(await rig.ids(), sent);
  await reconciles(t, rig, ['sluice_default', 'other']);
});

t.test('a store that takes nothing at all holds its partitions: parking would only move the pile', async (t) => {
  const rig = await startParkingRig(t, parkingFolder(t));
  await rig.send(3, 'both');
  await rig.settled();
  rig.blocked.add('sluice_default_0').add('other_0');
  await rig.send(3, 'both');
  await pause(900);
  t.equal(await rig.processor.lag(), 3);
  t.same(
    (await rig.processor.parking.list()).map(({ state, messages }) => ({ state, messages })),
    [
      { state: 'blocked', messages: 0 },
      { state: 'blocked', messages: 0 },
    ],
  );
  rig.blocked.clear();
  await rig.settled();
  t.equal((await rig.ids('other')).length, 6);
});
