import t from 'tap';
import { silentLog } from '../../../core/log.js';
import type { RuntimeReceiver } from '../../../pipeline/objects/receiver-options.js';
import { createRuntimeReceivers, type RuntimeReceivers } from '../../../pipeline/objects/receivers.js';
import type { Receiver } from '../../../receivers/contract.js';
import type { ReceiverOptions } from '../../../schemas/config/receivers.js';
import { until } from './rig.js';

interface Bench {
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
  const bench: Bench = { done, taken, wanted: [], receivers: createRuntimeReceivers({ wanted: () => bench.wanted, create, log: silentLog, retryMs: 20 }) };
  t.teardown(() => bench.receivers.stop(1_000));
  return bench;
}

const receiver = (id: string, port: number, enabled = true): RuntimeReceiver => ({ id, title: id, enabled, options: { type: 'gelf_tcp', name: id, port } as ReceiverOptions });

t.test('what is wanted runs; what changed is replaced, the others are left alone', async (t) => {
  const bench = createBench(t);
  bench.wanted = [receiver('a', 1), receiver('b', 2), receiver('c', 3, false)];
  await bench.receivers.apply();
  t.same(bench.done.splice(0), ['start a 1', 'start b 2']);
  t.same(['a', 'b', 'c', 'd'].map((id) => bench.receivers.state(id)?.state), ['RUNNING', 'RUNNING', 'STOPPED', undefined]);
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

t.test('after the stop nothing starts', async (t) => {
  const bench = createBench(t);
  bench.wanted = [receiver('a', 1)];
  await bench.receivers.stop(1_000);
  await bench.receivers.apply();
  t.same(bench.done, []);
});
