import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import { createRecentProblems, type RecentProblems } from '../../core/recent-problems.js';
import type { RuntimeReceiver } from '../../definitions/contract.js';
import { createRuntimeReceivers, type RuntimeReceivers } from '../../program/runtime-receivers.js';
import type { Receiver } from '../../receivers/contract.js';
import type { ReceiverOptions } from '../../schemas/config/receivers.js';
import { until } from '../definitions/rig.js';

interface Bench {
  readonly problems: RecentProblems;
  readonly receivers: RuntimeReceivers;
  readonly done: string[];
  wanted: readonly RuntimeReceiver[];
  /** Ports that cannot be listened on. */
  readonly taken: Set<number>;
}

function createBench(t: { teardown(action: () => Promise<void>): void }): Bench {
  const done: string[] = [];
  const taken = new Set<number>();
  const create = ({ name, port }: ReceiverOptions): Receiver => ({
    name,
    async start() {
      if (taken.has(port)) throw new Error(`${port} is taken`);
      done.push(`start ${name} ${port}`);
    },
    stop: async () => void done.push(`stop ${name} ${port}`),
    address: () => ({ protocol: 'gelf-tcp', host: '127.0.0.1', port, tls: false }),
  });
  const problems = createRecentProblems();
  const log = pino({ hooks: problems.hooks }, new Writable({ write: (_chunk, _encoding, written) => written() }));
  const bench: Bench = {
    problems,
    done,
    taken,
    wanted: [],
    receivers: createRuntimeReceivers({
      wanted: () => bench.wanted,
      create,
      log,
      solved: (facts, message) => problems.solved(facts, message),
      retryMs: 20,
    }),
  };
  t.teardown(() => bench.receivers.stop(1_000));
  return bench;
}

const receiver = (id: string, port: number, enabled = true): RuntimeReceiver => ({
  id,
  title: id,
  enabled,
  options: { type: 'gelf_tcp', name: id, port } as ReceiverOptions,
});

t.test('what is wanted runs; what changed is replaced, the others are left alone', async (t) => {
  const bench = createBench(t);
  bench.wanted = [receiver('a', 1), receiver('b', 2), receiver('c', 3, false)];
  await bench.receivers.apply();
  t.same(bench.done.splice(0), ['start a 1', 'start b 2']);
  t.same(
    ['a', 'b', 'c', 'd'].map((id) => bench.receivers.state(id)?.state),
    ['RUNNING', 'RUNNING', 'STOPPED', undefined],
  );
  bench.wanted = [receiver('a', 1), receiver('b', 7)];
  await bench.receivers.apply();
  t.same(bench.done.splice(0), ['stop b 2', 'start b 7']);
  bench.wanted = [];
  await bench.receivers.apply();
  t.same(bench.done, ['stop a 1', 'stop b 7']);
  t.same(bench.receivers.running(), []);
});

t.test('one that cannot start says why, is tried again, and holds up no other', async (t) => {
  const bench = createBench(t);
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(async () => clearInterval(alive));
  bench.taken.add(1);
  bench.wanted = [receiver('a', 1), receiver('b', 2)];
  await bench.receivers.apply();
  t.match(bench.receivers.state('a'), { state: 'FAILED', problem: '1 is taken' });
  t.equal(bench.receivers.state('b')?.state, 'RUNNING');
  bench.taken.delete(1);
  await until(() => bench.receivers.state('a')?.state === 'RUNNING');
});

t.test(
  'one that cannot start is one problem, however often it is tried, until it works or is not wanted any more',
  async (t) => {
    const bench = createBench(t);
    const alive = setInterval(() => undefined, 1_000);
    t.teardown(async () => clearInterval(alive));
    bench.taken.add(1).add(2);
    bench.wanted = [receiver('a', 1), receiver('b', 2)];
    await bench.receivers.apply();
    await until(() => (bench.problems.list()[0]?.count ?? 0) > 3);
    const [first, second, ...more] = bench.problems.list();
    t.same(more, []);
    t.match([first?.text, second?.text].sort(), [/receiver a.*1 is taken/, /receiver b.*2 is taken/]);
    t.ok(String(first?.since) <= String(first?.time));
    bench.taken.delete(1);
    await until(() => bench.receivers.state('a')?.state === 'RUNNING');
    t.match(bench.problems.list(), [{ text: /receiver b/ }]);
    t.equal(bench.problems.list().length, 1);
    bench.wanted = [receiver('a', 1)];
    await bench.receivers.apply();
    t.same(bench.problems.list(), []);
  },
);

t.test('after the stop nothing starts', async (t) => {
  const bench = createBench(t);
  bench.wanted = [receiver('a', 1)];
  await bench.receivers.stop(1_000);
  await bench.receivers.apply();
  t.same(bench.done, []);
});
