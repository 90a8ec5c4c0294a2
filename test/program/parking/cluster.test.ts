import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { packageRoot } from '../../../core/process/package-root.js';
import { skipWithoutKafka, skipWithoutOpenSearch } from '../../engines.js';
import { startTraffic } from '../../faults/world/traffic.js';
import { cleanEnvironment, commandLine, node, until, type Program } from '../../program.js';
import { createParkingWorld, parkAfterMs, type ParkingWorld } from './world.js';
import { slowness } from '../../deadlines.js';

/** Low, because the drain must be faster on a busy machine. */
const rate = 300;
const skip = skipWithoutKafka().skip || skipWithoutOpenSearch().skip;

const start = (world: ParkingWorld, name: string, role: 'receiver' | 'processor'): Promise<Program> =>
  world.cluster.start(name, role, {
    processing: {
      group: world.cluster.group,
      rotation_check_ms: 1_000,
      retention_check_ms: 2_000,
      park_after_ms: parkAfterMs,
    },
  });

function send(receiver: Program) {
  let connections = 0;
  return startTraffic({
    tcp: () => ({ host: '127.0.0.1', port: receiver.port('gelf-tcp') }),
    connections: 8,
    rate,
    nextConnection: () => (connections += 1),
  });
}

const workedOff = (world: ParkingWorld, explain: () => string): Promise<true> =>
  until(async () => ((await world.cluster.lag()) === 0 ? true : undefined), 40_000, explain);

t.test(
  'an index set made read-only under load: killed, rebalanced, rotated, unblocked',
  { skip, timeout: 280_000 },
  async (t) => {
    const world = await createParkingWorld(t);
    const { main, side } = world;
    const receiver = await start(world, 'receiver', 'receiver');
    let first = await start(world, 'first', 'processor');
    const second = await start(world, 'second', 'processor');
    const explain = (): string =>
      [first, second]
        .map((program) =>
          program
            .output()
            .split('\n')
            .filter((line) => !line.includes('takes writes') && !line.includes('repeated until'))
            .slice(-12)
            .join('\n'),
        )
        .join('\n----\n');
    const traffic = send(receiver);
    const current = (await second.status()).epoch.indices[main] ?? '';
    const sideIndex = (await second.status()).epoch.indices[side] ?? '';
    await until(async () => ((await world.documents(current)) > rate ? true : undefined), 30_000, explain);

    await world.block(current, true);
    await until(async () => (((await world.parked(second))?.messages ?? 0) > rate ? true : undefined), 30_000, explain);
    const [sideBefore, sentBefore] = [await world.documents(sideIndex), traffic.sent()];
    await wait(5_000);
    const share = ((await world.documents(sideIndex)) - sideBefore) / ((traffic.sent() - sentBefore) / 4);
    t.ok(share > 0.5, `the other set is written at ${(share * 100).toFixed(0)} % of what comes`);
    t.match(await world.parked(second), { state: 'blocked', index: current, code: 'STORE_INDEX_BLOCKED' });

    await first.end('SIGKILL');
    await world.cluster.takenOver(40_000);
    await second.control.request('POST', '/rotate', { index_set: main });
    await wait(2_000);
    first = await start(world, 'first', 'processor');
    await world.cluster.takenOver(40_000);
    const rotated = (await second.status()).epoch.indices[main] ?? '';
    t.not(rotated, current);
    t.equal(await world.documents(rotated), 0, 'newer messages wait behind older ones');

    const order = await world.parkedOrder(second);
    t.comment(JSON.stringify(order));
    t.ok(order.parked > rate && order.outOfOrder === 0, 'parked in order, over the kill and the rebalances');
    const before = await world.documents(current);
    await world.block(current, false);
    const answered = Date.now();
    await until(async () => ((await world.documents(current)) > before ? true : undefined), 10_000, explain);
    const begun = Date.now() - answered;
    t.ok(begun < 3_000 * slowness, `the drain begins ${begun} ms after the index answers`);
    const states = async (): Promise<readonly (string | undefined)[]> => [
      (await world.parked(first))?.state,
      (await world.parked(second))?.state,
    ];
    await until(
      async () => ((await states()).every((state) => state === 'drained') ? true : undefined),
      40_000,
      explain,
    );
    t.comment(`drained under load after ${Date.now() - answered} ms`);
    await wait(1_000);
    await traffic.stop();
    await workedOff(world, explain);
    await until(async () => ((await world.parked(second))?.state === 'drained' ? true : undefined), 10_000, explain);
    const reckoning = await world.reckon(second);
    t.comment(JSON.stringify(reckoning));
    t.match(reckoning, { missing: 0, doubled: 0, sideMissing: 0, sideDoubled: 0, deadLetters: 0 });
  },
);

const verb = async (program: Program, ...words: string[]): Promise<string> => {
  const [command, ...leading] = node;
  return (
    await promisify(execFile)(command, [...leading, commandLine, ...words, '--config', program.settingsFile], {
      cwd: packageRoot,
      env: cleanEnvironment(),
    })
  ).stdout;
};

t.test('a closed index, then a deleted one that is given up', { skip, timeout: 200_000 }, async (t) => {
  const world = await createParkingWorld(t);
  const { main } = world;
  const receiver = await start(world, 'receiver', 'receiver');
  const processor = await start(world, 'processor', 'processor');
  const explain = (): string => processor.output().slice(-4_000);
  const traffic = send(receiver);
  const current = (await processor.status()).epoch.indices[main] ?? '';
  const parked = (messages: number): Promise<true> =>
    until(
      async () => (((await world.parked(processor))?.messages ?? 0) > messages ? true : undefined),
      40_000,
      explain,
    );
  const drained = (): Promise<true> =>
    until(async () => ((await world.parked(processor))?.state === 'drained' ? true : undefined), 60_000, explain);
  await until(async () => ((await world.documents(current)) > rate ? true : undefined), 30_000, explain);

  await world.openSearch('POST', `/${current}/_close`);
  await parked(rate);
  const list = await verb(processor, 'parking', 'list');
  t.match(list, new RegExp(`${main} +blocked +\\d+`));
  t.match(await verb(processor, 'status'), new RegExp(`${main} +blocked`));
  await world.openSearch('POST', `/${current}/_open`);
  await drained();

  await traffic.stop();
  await workedOff(world, explain);
  await drained();
  const kept = await world.documents(current);
  t.equal((await world.reckon(processor)).missing, 0);
  await world.openSearch('DELETE', `/${current}`);
  const more = send(receiver);
  await parked(rate);
  t.match(await verb(processor, 'parking', 'abandon', current), /given up.*writes to its next index now/s);
  await drained();
  await more.stop();
  await workedOff(world, explain);
  await drained();
  const reckoning = await until(
    async () => {
      const found = await world.reckon(processor);
      return found.missing === kept ? found : undefined;
    },
    30_000,
    explain,
  );
  t.comment(JSON.stringify({ kept, ...reckoning }));
  t.match(
    reckoning,
    { missing: kept, doubled: 0, sideMissing: 0, sideDoubled: 0 },
    'only what the deleted index held is gone',
  );
  t.ok(reckoning.deadLetters > rate, `${reckoning.deadLetters} dead letters`);
});
