import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { createFairScheduler } from '../../../receivers/listen/fair-scheduler.js';
import { connectTo, gelf, reconcile, startReceiver, until } from '../receiving.js';

t.test('what comes after a turn is used up waits in order, and is worked off a share at a time', async (t) => {
  let time = 0;
  const scheduler = createFairScheduler(() => time);
  t.notOk(scheduler.over('a'));
  time = 3;
  t.notOk(scheduler.over('a'));
  time = 5;
  t.ok(scheduler.over('a'), 'four milliseconds are one share');
  const done: number[] = [];
  for (const number of [1, 2, 3, 4])
    scheduler.later('a', 1, () => {
      done.push(number);
      time += 3;
    });
  await nextTurn();
  await nextTurn();
  t.same(done.slice(0, 2), [1, 2]);
  while (done.length < 4) {
    t.ok(scheduler.over('a'), 'who comes later does not overtake');
    await nextTurn();
  }
  t.same(done, [1, 2, 3, 4]);
  await nextTurn();
  t.notOk(scheduler.over('a'));
});

t.test('addresses take turns, so that one connection does not wait for all of another address', async (t) => {
  let time = 0;
  const scheduler = createFairScheduler(() => time);
  scheduler.over('many');
  time = 10;
  const done: string[] = [];
  for (const number of [1, 2, 3])
    scheduler.later('many', 1, () => {
      done.push(`many ${number}`);
      time += 3;
    });
  scheduler.later('one', 1, () => {
    done.push('one');
    time += 3;
  });
  while (done.length < 4) await nextTurn();
  t.same(done, ['many 1', 'one', 'many 2', 'many 3']);
});

t.test('bytes that wait are bounded, and a stop runs what waits', async (t) => {
  let time = 0;
  const scheduler = createFairScheduler(() => time);
  scheduler.over('a');
  time = 100;
  let ran = 0;
  scheduler.later('a', 63 * 2 ** 20, () => {
    ran += 1;
  });
  t.ok(scheduler.over('a'));
  scheduler.later('b', 2 ** 20, () => {
    ran += 1;
  });
  t.notOk(scheduler.over('a'), 'nothing more is put off');
  scheduler.stop();
  t.equal(ran, 2);
});

t.test(
  'hundreds of connections cut off in the middle of a large frame lose nothing that was counted, and hold nobody up',
  async (t) => {
    const running = await startReceiver(t, 'gelf_tcp');
    const half = `{"host":"h","short_message":"${'x'.repeat(200_000)}`;
    const sockets = await Promise.all(Array.from({ length: 60 }, () => connectTo(t, running.port)));
    for (const socket of sockets) socket.write(half);
    await until(
      'all is read',
      async () => (await running.count('sluice_receiver_received_bytes_total')) >= half.length * sockets.length,
    );
    for (const socket of sockets) socket.destroy();
    const honest = await connectTo(t, running.port);
    honest.end(`${gelf('honest')}\0`);
    honest.resume();
    await once(honest, 'close');
    await until('all are refused', async () => (await reconcile(running)).refused === sockets.length);
    await until('the message', () => running.sink.texts().length === 1);
    t.match(await reconcile(running), { received: 61, decoded: 1, refused: 60, exact: true });
  },
);

t.test('a stop takes the last frames that wait for their turn', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const sockets = await Promise.all(Array.from({ length: 40 }, () => connectTo(t, running.port)));
  const last = gelf('y'.repeat(150_000));
  for (const socket of sockets) socket.write(last);
  await until(
    'all is read',
    async () => (await running.count('sluice_receiver_received_bytes_total')) >= last.length * sockets.length,
  );
  await running.receiver.stop(5_000);
  t.match(await reconcile(running), { received: 40, decoded: 40, exact: true });
});
