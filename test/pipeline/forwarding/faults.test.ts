/** What a destination can do to its output: nothing is missing afterwards, the order stays, nobody else notices. */
import t from 'tap';
import { until } from '../../program.js';
import { createStreamDestination, type StreamDestination } from '../../sinks/outputs/receivers.js';
import { createWorld, firstNumbers, inOrder, numbered } from './world.js';

const arrived = (destination: StreamDestination): number[] => firstNumbers(destination.frames(0));
const arrives = (destination: StreamDestination, count: number): Promise<true> =>
  until(
    () => (arrived(destination).length >= count ? true : undefined),
    60_000,
    () => `${arrived(destination).length} of ${count} arrived`,
  );

t.test('a destination that is not there: the messages wait, and leave in order when it is', async (t) => {
  const destination = await createStreamDestination(t);
  await destination.close();
  const world = await createWorld(t, [{ id: 'a', port: destination.port }]);
  await world.append('a', numbered(0, 5_000));
  const failing = await until(
    async () => {
      const status = await world.status('a');
      return status.lastError === undefined ? undefined : status;
    },
    10_000,
    () => 'no error',
  );
  t.match(failing, { state: /waiting|connecting/, lag: 5_000, lastError: /cannot be connected.*ECONNREFUSED/ });
  await destination.listen();
  await arrives(destination, 5_000);
  t.match(await world.sentAll('a'), { state: 'connected', lastError: undefined });
  t.ok(inOrder(arrived(destination), 5_000));
  t.equal(await world.metric('messages_sent_total', 'a'), 5_000);
});

t.test('connections that are reset again and again lose nothing and keep the order', async (t) => {
  const destination = await createStreamDestination(t);
  const world = await createWorld(t, [{ id: 'a', port: destination.port }]);
  let sent = 0;
  for (let round = 0; round < 4; round += 1) {
    await world.append('a', numbered(sent, sent + 3_000));
    sent += 3_000;
    await until(
      () => (destination.connections() > round ? true : undefined),
      10_000,
      () => 'no connection',
    );
    await arrives(destination, sent - 2_900);
    destination.reset();
  }
  await arrives(destination, sent);
  await world.sentAll('a');
  t.ok(inOrder(arrived(destination), sent));
});

t.test('what a destination had not read when it was killed is sent again', async (t) => {
  const destination = await createStreamDestination(t);
  const world = await createWorld(t, [{ id: 'a', port: destination.port, confirm_after_ms: 60_000 }]);
  await world.append('a', numbered(0, 10));
  await arrives(destination, 10);
  destination.hang();
  await world.append('a', numbered(10, 2_000));
  await until(
    async () => ((await world.status('a')).unconfirmedMessages === 2_000 ? true : undefined),
    10_000,
    () => 'not written',
  );
  destination.reset();
  destination.resume();
  await arrives(destination, 2_000);
  t.ok(inOrder(arrived(destination), 2_000));
});

t.test('a hanging destination holds only its own topic, within bounds', async (t) => {
  const hanging = await createStreamDestination(t);
  const sound = await createStreamDestination(t);
  hanging.hang();
  const world = await createWorld(t, [
    { id: 'hanging', port: hanging.port, unconfirmed_bytes: '256 KiB', write_timeout_ms: 1_000 },
    { id: 'sound', port: sound.port },
  ]);
  const more = `,"_fill":"${'x'.repeat(2_000)}"`;
  for (let round = 0; round < 10; round += 1) {
    await world.append('hanging', numbered(round * 1_000, round * 1_000 + 1_000, more));
    await world.append('sound', numbered(round * 1_000, round * 1_000 + 1_000));
  }
  await arrives(sound, 10_000);
  await world.sentAll('sound');
  t.ok(inOrder(arrived(sound), 10_000));
  const held = await until(
    async () => {
      const status = await world.status('hanging');
      return /reads nothing/.test(status.lastError ?? '') && (status.lastErrorAt ?? Infinity) < Date.now() - 3_000
        ? status
        : undefined;
    },
    30_000,
    () => 'it is not said that the destination reads nothing',
  );
  t.ok(held.unconfirmedBytes <= 256 * 1024 + 640 * 1024, `${held.unconfirmedBytes} bytes are kept`);
  hanging.resume();
  await arrives(hanging, 10_000);
  await world.sentAll('hanging');
  t.ok(inOrder(arrived(hanging), 10_000));
  t.equal(hanging.connections(), 1, 'what it had not read came before what followed: its connection was kept');
  t.not((await world.status('hanging')).lastError, held.lastError);
});

t.test('a destination that hangs for longer than hang_timeout_ms is connected anew', async (t) => {
  const hanging = await createStreamDestination(t);
  hanging.hang();
  const world = await createWorld(t, [
    {
      id: 'hanging',
      port: hanging.port,
      unconfirmed_bytes: '256 KiB',
      write_timeout_ms: 1_000,
      hang_timeout_ms: 2_500,
      retry_most_ms: 1_000,
    },
  ]);
  const more = `,"_fill":"${'x'.repeat(2_000)}"`;
  for (let round = 0; round < 10; round += 1)
    await world.append('hanging', numbered(round * 1_000, round * 1_000 + 1_000, more));
  await until(
    () => (hanging.connections() > 1 ? true : undefined),
    30_000,
    () => 'never connected anew',
  );
  hanging.resume();
  await arrives(hanging, 10_000);
  await world.sentAll('hanging');
});

t.test('a slow destination keeps its connection, holds only its own topic, and gets everything once', async (t) => {
  const slow = await createStreamDestination(t);
  const sound = await createStreamDestination(t);
  slow.slow(600_000);
  const world = await createWorld(t, [
    { id: 'slow', port: slow.port, unconfirmed_bytes: '256 KiB' },
    { id: 'sound', port: sound.port },
  ]);
  const more = `,"_fill":"${'x'.repeat(2_000)}"`;
  for (let round = 0; round < 6; round += 1) {
    await world.append('slow', numbered(round * 1_000, round * 1_000 + 1_000, more));
    await world.append('sound', numbered(round * 1_000, round * 1_000 + 1_000));
  }
  await arrives(sound, 6_000);
  await world.sentAll('sound');
  const status = await world.status('slow');
  t.ok(status.lag > 0, `${status.lag} messages wait for the slow one alone`);
  t.ok(status.unconfirmedBytes <= 256 * 1024 + 640 * 1024, `${status.unconfirmedBytes} bytes are kept`);
  await until(
    () => (slow.bytes().length > 3 * 2 ** 20 ? true : undefined),
    60_000,
    () => 'nothing goes on',
  );
  t.equal(slow.connections(), 1, 'slow is not hung');
  slow.resume();
  await arrives(slow, 6_000);
  await world.sentAll('slow');
  t.ok(inOrder(arrived(slow), 6_000));
  t.same([slow.frames(0).length, slow.connections()], [6_000, 1]);
});

t.test('a restart goes on where it stopped, and sends hardly anything again', async (t) => {
  const destination = await createStreamDestination(t);
  const world = await createWorld(t, [{ id: 'a', port: destination.port, confirm_after_ms: 60_000 }]);
  await world.append('a', numbered(0, 1_000));
  await arrives(destination, 1_000);
  await world.restart();
  await world.append('a', numbered(1_000, 2_000));
  await arrives(destination, 2_000);
  t.ok(inOrder(arrived(destination), 2_000));
  t.equal(destination.frames(0).length, 2_000, 'the end of the connection proved that all had been read');
});

t.test('a redelivery that appended messages again is sent once', async (t) => {
  const destination = await createStreamDestination(t);
  const world = await createWorld(t, [{ id: 'a', port: destination.port }]);
  const key = (number: number): string => `0190000000000abcdef0-0001-${number.toString(16).padStart(10, '0')}`;
  const records = (from: number, to: number) =>
    numbered(from, to).map((value, at) => ({
      key: key(from + at),
      value: Buffer.from(value),
      timestamp: Date.now(),
      origin: 'r p',
    }));
  for (const [from, to] of [
    [0, 50],
    [20, 80],
    [0, 100],
  ] as const)
    await world.topics.append('sluice.output.a', 0, records(from, to));
  await arrives(destination, 100);
  await world.sentAll('a');
  t.ok(
    inOrder(
      destination.frames(0).map((frame) => Number(/"_n":(\d+)/.exec(frame)?.[1])),
      100,
    ),
  );
  t.equal(await world.metric('messages_repeated_total', 'a'), 110);
});

t.test('twenty outputs, nineteen of them unreachable', async (t) => {
  const destination = await createStreamDestination(t);
  const gone = await createStreamDestination(t);
  await gone.close();
  const ids = Array.from({ length: 20 }, (_, at) => `o${at}`);
  const world = await createWorld(
    t,
    ids.map((id, at) => ({ id, port: at === 7 ? destination.port : gone.port })),
  );
  await Promise.all(ids.map((id) => world.append(id, numbered(0, 2_000))));
  await arrives(destination, 2_000);
  await world.sentAll('o7');
  t.ok(inOrder(arrived(destination), 2_000));
  t.equal((await world.outputs.status()).filter(({ lag }) => lag === 2_000).length, 19);
  await gone.listen();
  await Promise.all(ids.map((id) => world.sentAll(id)));
  t.equal(gone.frames(0).length, 19 * 2_000);
});
