/** Several workers of one program: shared ports, one face to the outside, and what happens when one of them dies. */
import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { skipWithoutKafka, skipWithoutOpenSearch } from '../../engines.js';
import { startTraffic } from '../../faults/world/traffic.js';
import { cleanEnvironment, commandLine, node, testFolder, until, type Program } from '../../program.js';
import { createCluster } from '../cluster.js';

const skip = skipWithoutKafka().skip || skipWithoutOpenSearch().skip;
const receivers = [
  { type: 'gelf_tcp', host: '127.0.0.1', port: 0 },
  { type: 'gelf_udp', host: '127.0.0.1', port: 0 },
  { type: 'gelf_http', host: '127.0.0.1', port: 0 },
];

interface WorkersStatus {
  readonly admin_port: number;
  readonly partitions: readonly string[];
  readonly workers: readonly {
    readonly worker: number;
    readonly pid?: number;
    readonly ready: boolean;
    readonly restarts: number;
  }[];
}

async function status(program: Program): Promise<WorkersStatus> {
  return (await program.status()) as unknown as WorkersStatus;
}

async function metric(program: Program, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${(await status(program)).admin_port}/metrics`)).text();
  return [...text.matchAll(/^(\w+)(?:\{[^}]*\})? (\S+)$/gm)]
    .filter(([, found]) => found === name)
    .reduce((sum, [, , value]) => sum + Number(value), 0);
}

async function ready(program: Program): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${(await status(program)).admin_port}/health/ready`)).status === 200;
}

t.test('two workers share ports and partitions, and answer as one program', { skip, timeout: 120_000 }, async (t) => {
  const cluster = await createCluster(t);
  const program = await cluster.start('all', 'all', { workers: 2, receivers });
  t.match(program.output(), /workers +2 processes/, 'one banner says so');
  t.equal(program.output().split('is running').length, 2, 'one banner');
  const { workers, partitions } = await until(
    async () => {
      const now = await status(program);
      return now.partitions.length === 5 ? now : undefined;
    },
    20_000,
    () => program.output(),
  );
  t.equal(workers.length, 2);
  t.same(
    partitions.map((partition) => partition.slice(cluster.topicPrefix.length)),
    ['dead-letters/0', 'logs/0', 'logs/1', 'logs/2', 'logs/3'].sort(),
    'all partitions are assigned, each once',
  );
  t.equal(await ready(program), true);

  let connections = 0;
  const traffic = startTraffic({
    tcp: () => ({ host: '127.0.0.1', port: program.port('gelf-tcp') }),
    http: () => ({ host: '127.0.0.1', port: program.port('gelf-http') }),
    connections: 12,
    rate: 600,
    nextConnection: () => (connections += 1),
  });
  await sendChunked(program.port('gelf-udp'), 20);
  await cluster.takenOver(20_000);
  const victim = (await status(program)).workers[1]?.pid ?? 0;
  const before = await metric(program, 'sluice_messages_appended_total');
  process.kill(victim, 'SIGKILL');
  await until(
    async () => ((await ready(program)) ? undefined : true),
    5_000,
    () => 'a program with a dead worker says that it is ready',
  );
  t.ok((await metric(program, 'sluice_messages_appended_total')) >= before, 'counters do not fall when a worker dies');
  const revived = await until(
    async () => {
      const now = await status(program);
      return now.workers.every((worker) => worker.ready) ? now.workers : undefined;
    },
    30_000,
    () => program.output(),
  );
  t.match(revived[1], { worker: 2, restarts: 1 });
  t.not(revived[1]?.pid, victim);
  t.equal(await metric(program, 'sluice_worker_restarts_total'), 1);
  await until(
    async () => ((await ready(program)) ? true : undefined),
    10_000,
    () => program.output(),
  );
  const sent = await traffic.stop();
  await until(
    async () => ((await cluster.lag()) === 0 ? true : undefined),
    30_000,
    () => program.output(),
  );
  const accepted = (await cluster.offsets()).reduce((sum, { end }) => sum + end, 0);
  t.comment(`sent ${sent} and 20 in chunks, accepted ${accepted}`);
  t.ok(accepted > 600);
  await program.control.request('POST', '/refresh', {});
  const chunked = (await program.control.request('POST', '/search', { query: 'chunked:yes', limit: 100 })) as {
    hits: readonly unknown[];
  } & Record<string, unknown>;
  t.equal(
    JSON.stringify(chunked).split('joined from chunks').length - 1,
    20,
    'a worker answers searches; chunks of one sender met in one process',
  );
  t.equal(await program.end(), 0, 'SIGTERM stops all, exit code 0');
  t.notOk(existsSync(join(program.folder, 'data', 'control.sock')), 'no socket is left');
});

t.test('a second signal ends all workers at once', { skip, timeout: 60_000 }, async (t) => {
  const cluster = await createCluster(t);
  const program = await cluster.start('receiver', 'receiver', { workers: 2 });
  const pids = (await status(program)).workers.flatMap(({ pid }) => pid ?? []);
  t.equal(pids.length, 2);
  program.child.kill('SIGTERM');
  t.ok([0, 130].includes((await program.end('SIGTERM')) as number));
  await until(
    () => (pids.some(isAlive) ? undefined : true),
    5_000,
    () => 'workers were left behind',
  );
});

t.test('workers end with a primary process that is killed', { skip, timeout: 60_000 }, async (t) => {
  const cluster = await createCluster(t);
  const program = await cluster.start('receiver', 'receiver', { workers: 2 });
  const pids = (await status(program)).workers.flatMap(({ pid }) => pid ?? []);
  await program.end('SIGKILL');
  await until(
    () => (pids.some(isAlive) ? undefined : true),
    5_000,
    () => 'workers were left behind',
  );
  t.pass('nothing is left');
});

t.test('several workers on embedded engines are refused with a sentence', (t) => {
  for (const [variables, sentence] of [
    [
      { SLUICE_WORKERS: '2' },
      /workers: .*Got 2, with topics\.kind: embedded\. Allowed: 1 or auto, or topics\.kind: kafka/,
    ],
    [
      { SLUICE_WORKERS: '2', SLUICE_TOPICS__KIND: 'kafka' },
      /Several workers need engines that several processes can share/,
    ],
    [{ SLUICE_WORKERS: 'many' }, /workers: .*Got "many"\. Allowed: a whole number from 1 to 64 or auto/],
  ] as const) {
    const [command, ...leading] = node;
    const { status, stderr } = spawnSync(command, [...leading, commandLine, 'start'], {
      cwd: testFolder(t),
      env: { ...cleanEnvironment(), ...variables },
      encoding: 'utf8',
    });
    t.equal(status, 2);
    t.match(stderr, sentence);
  }
  t.end();
});

async function sendChunked(port: number, count: number): Promise<void> {
  const socket = createSocket('udp4');
  for (let number = 0; number < count; number += 1) {
    const message = Buffer.from(
      JSON.stringify({
        version: '1.1',
        host: 'h',
        short_message: 'joined from chunks',
        full_message: 'x'.repeat(3_000),
        _chunked: 'yes',
        _number: number,
      }),
    );
    const size = 1_000;
    const parts = Math.ceil(message.length / size);
    for (let part = 0; part < parts; part += 1) {
      const head = Buffer.from([0x1e, 0x0f, 1, 2, 3, 4, 5, 6, 7, number, part, parts]);
      await new Promise((resolve) =>
        socket.send(
          Buffer.concat([head, message.subarray(part * size, (part + 1) * size)]),
          port,
          '127.0.0.1',
          resolve,
        ),
      );
    }
  }
  socket.close();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
