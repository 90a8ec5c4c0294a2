/** Receivers and processors that join and leave under load. Prints how long each change took. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { skipWithoutKafka, skipWithoutOpenSearch } from '../engines.js';
import { createReckoner } from '../faults/judging/reckoning.js';
import { startTraffic } from '../faults/world/traffic.js';
import { until, type Program, type Status } from '../program.js';
import { createCluster } from './cluster.js';

/** Messages a second. */
const rate = Number(process.env['SLUICE_ROLES_RATE'] ?? 1_000);
/** Processes that wait for each core. */
const busyLoad = 5;
const skip = skipWithoutKafka().skip || skipWithoutOpenSearch().skip;

t.test(
  'processors join and leave under load: nothing is missing, doubled or out of order',
  { skip, timeout: 300_000 },
  async (t) => {
    const cluster = await createCluster(t, { rules: { maxDocuments: 5_000 } });
    const receiver = await cluster.start('receiver', 'receiver', { workers: 2 });
    const first = await cluster.start('processor-1', 'processor');
    const port = receiver.port('gelf-tcp');
    let connections = 0;
    const traffic = startTraffic({
      tcp: () => ({ host: '127.0.0.1', port }),
      connections: 8,
      rate,
      nextConnection: () => (connections += 1),
    });
    await cluster.takenOver(20_000);
    const took = async (what: string, limitMs: number, change: () => Promise<unknown>): Promise<void> => {
      const begun = performance.now();
      await change();
      await cluster.takenOver(60_000);
      const seconds = (performance.now() - begun) / 1000;
      t.comment(`${what}: every partition is stored further after ${seconds.toFixed(1)} s`);
      // The promise is for a machine with some time left.
      const busy = (loadavg()[0] as number) > busyLoad * availableParallelism();
      t.ok(
        seconds * 1000 < limitMs * (busy ? 2 : 1),
        `${what}: within ${limitMs / 1000} s${busy ? ', twice that on this busy machine' : ''}`,
      );
      await wait(500);
    };
    const second = await cluster.start('processor-2', 'processor');
    const third = await cluster.start('processor-3', 'processor');
    await took('three processors', 10_000, async () => undefined);
    await took('graceful leave', 6_000, () => second.end('SIGTERM'));
    await took('kill -9', 10_000, () => third.end('SIGKILL'));
    const fourth = await cluster.start('processor-4', 'processor');
    await rotateTogether(t, [first, fourth]);
    await took('kill -9 of the one that was first', 10_000, () => first.end('SIGKILL'));
    const sent = await traffic.stop();
    await until(
      async () => ((await cluster.lag()) === 0 ? true : undefined),
      120_000,
      () => fourth.output().slice(-3000),
    );
    await fourth.control.request('POST', '/refresh', {});
    const { accepted, missing, doubled, outOfOrder, resent } = await createReckoner(receiver.settingsFile).reckon(
      fourth,
      new Set(),
    );
    t.comment(
      `sent ${sent}, accepted ${accepted}, resent ${resent}, missing ${missing.length}, doubled ${doubled.length}, out of order ${outOfOrder}`,
    );
    t.equal(accepted, sent);
    t.same({ missing: missing.length, doubled: doubled.length, outOfOrder }, { missing: 0, doubled: 0, outOfOrder: 0 });
    t.equal(await fourth.end(), 0);
    t.equal(await receiver.end(), 0);
  },
);

/**
 * Both are told to rotate at the same moment, again and again: compare-and-set decides, and every epoch names indices
 * that were never used before.
 */
async function rotateTogether(t: Test, programs: readonly Program[]): Promise<void> {
  const used = new Set<string>();
  let before = await epochOf(programs);
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      programs.map((program) => program.control.request('POST', '/rotate', { index_set: 'fault_moved' })),
    );
    t.ok(
      answers.some((answer) => (answer as { rotated: boolean }).rotated),
      'one of them rotated',
    );
    const now = await epochOf(programs);
    t.ok(now.number > before.number);
    t.notOk(used.has(now.indices['fault_moved'] ?? ''), 'a name is used once');
    used.add(now.indices['fault_moved'] ?? '');
    await Promise.all(programs.map((program) => program.control.request('POST', '/retention', {})));
    before = now;
  }
}

async function epochOf(programs: readonly Program[]): Promise<Status['epoch']> {
  const epochs = await Promise.all(programs.map(async (program) => (await program.status()).epoch));
  return epochs.reduce((newest, epoch) => (epoch.number > newest.number ? epoch : newest));
}

t.test('a processor without partitions says so, stays ready, and takes over', { skip, timeout: 120_000 }, async (t) => {
  const cluster = await createCluster(t, { topics: { partitions: 1 } });
  const programs = [
    await cluster.start('processor-1', 'processor'),
    await cluster.start('processor-2', 'processor'),
    await cluster.start('processor-3', 'processor'),
  ];
  const partitionsOf = async (program: Program): Promise<number> =>
    ((await program.status()) as unknown as { partitions: readonly string[] }).partitions.length;
  const spare = await until(
    async () => {
      const counts = await Promise.all(programs.map(partitionsOf));
      return counts.join() === '1,1,0' || counts.join() === '1,0,1' || counts.join() === '0,1,1'
        ? programs[counts.indexOf(0)]
        : undefined;
    },
    15_000,
    () => 'two partitions, and a spare processor',
  );
  t.match(spare.output(), /this one has none, and waits as a spare/);
  t.equal((await fetch(`http://127.0.0.1:${(await spare.status()).admin_port}/health/ready`)).status, 200);
  const [leaving, staying] = programs.filter((program) => program !== spare) as [Program, Program];
  t.equal(await leaving.end('SIGTERM'), 0);
  await until(
    async () =>
      (await partitionsOf(spare)) + (await partitionsOf(staying)) === 2 && (await partitionsOf(spare)) > 0
        ? true
        : undefined,
    6_000,
    () => spare.output().slice(-2000),
  );
  t.pass('the spare has work');
});
