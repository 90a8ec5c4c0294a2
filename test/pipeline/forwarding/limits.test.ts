/** What happens when more waits than an output's bounds allow, and that it is counted. */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import t from 'tap';
import { loadConfig } from '../../../program/settings.js';
import { createLimits } from '../../../pipeline/forwarding/limits.js';
import type { TopicLog } from '../../../topics/contract.js';
import { until } from '../../program.js';
import { createStreamDestination } from '../../sinks/outputs/receivers.js';
import { outputOf } from '../../sinks/outputs/settings.js';
import { createWorld, firstNumbers, numbered } from './world.js';

const fill = `,"_fill":"${'x'.repeat(900)}"`;

t.test(
  'drop_oldest: while a destination is away only the newest wait, what is dropped is counted, and the rest leaves in order',
  async (t) => {
    const destination = await createStreamDestination(t);
    await destination.close();
    const world = await createWorld(t, [
      { id: 'a', port: destination.port, on_full: 'drop_oldest', max_waiting: '1 MB', unconfirmed_bytes: '128 KiB' },
    ]);
    for (let round = 0; round < 8; round += 1)
      await world.append('a', numbered(round * 1_000, round * 1_000 + 1_000, fill));
    await until(
      async () => ((await world.metric('messages_dropped_total', 'a')) > 6_500 ? true : undefined),
      15_000,
      () => JSON.stringify(world.logged),
    );
    await until(
      async () =>
        ((await world.topics.committed('sluice-processors.output.a', 'sluice.output.a')).get(0) ?? 0) > 6_500
          ? true
          : undefined,
      5_000,
      () => 'their offsets are not committed, so the topic cannot let them go',
    );
    await destination.listen();
    await world.sentAll('a');
    const numbers = firstNumbers(destination.frames(0));
    t.equal(numbers.at(-1), 7_999);
    t.ok(
      numbers.every((number, at) => at === 0 || number === (numbers[at - 1] as number) + 1),
      'what is left has no holes',
    );
    t.equal(
      numbers.length + (await world.metric('messages_dropped_total', 'a')),
      8_000,
      'sent and dropped are everything',
    );
    t.equal(await world.metric('messages_sent_total', 'a'), numbers.length);
  },
);

t.test('drop_oldest: what is older than max_age is dropped', async (t) => {
  const destination = await createStreamDestination(t);
  await destination.close();
  const world = await createWorld(t, [{ id: 'a', port: destination.port, on_full: 'drop_oldest', max_age: 'PT1S' }]);
  await world.append('a', numbered(0, 3_000));
  await until(
    async () => ((await world.metric('messages_dropped_total', 'a')) === 3_000 ? true : undefined),
    10_000,
    () => JSON.stringify(world.logged),
  );
  await destination.listen();
  await world.append('a', numbered(3_000, 3_100));
  await until(
    () => (destination.frames(0).length === 100 ? true : undefined),
    5_000,
    () => 'not sent',
  );
  t.equal(firstNumbers(destination.frames(0))[0], 3_000);
});

const { config } = loadConfig({ folder: tmpdir(), environment: {}, overrides: { data_folder: tmpdir() } });
/** A topic with so many messages of 1,000 bytes, of which so many are sent. */
const topicWith = (state: { logEnd: number; committed: number }, reserveBytes = 1): TopicLog =>
  ({
    capabilities: () => ({ name: 'embedded', shared: false, measuresBytes: true, reserveBytes }),
    partitions: async () => [{ partition: 0, earliest: 0, logEnd: state.logEnd, bytes: state.logEnd * 1_000 }],
    committed: async () => new Map([[0, state.committed]]),
  }) as unknown as TopicLog;

t.test('drop_newest: nothing more is taken above the bound, and again below it', async (t) => {
  const state = { logEnd: 999, committed: 0 };
  let time = 0;
  const limits = createLimits(config, topicWith(state), () => (time += 1_000));
  const output = outputOf({ on_full: 'drop_newest', max_waiting: '1 MB', max_age: 'PT60S' });
  const refusal = async () => {
    limits.refusal(output);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return limits.refusal(output);
  };
  t.equal(await refusal(), undefined);
  state.logEnd = 1_000;
  await refusal();
  t.equal(await refusal(), 'newest');
  state.committed = 500;
  await refusal();
  t.equal(await refusal(), undefined);
  for (let round = 0; round < 40; round += 1) await refusal();
  t.equal(await refusal(), 'age', 'the oldest has been waiting for longer than allowed');
});

t.test('hold: nothing is dropped, however much waits, until the disk itself runs out', async (t) => {
  const { bavail, bsize } = await statfs(tmpdir());
  const waits = async (reserve: number) => {
    let time = 0;
    const limits = createLimits(config, topicWith({ logEnd: 1e9, committed: 0 }, reserve), () => (time += 1_000));
    limits.refusal(outputOf({ max_waiting: '1 MB' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return limits.refusal(outputOf({ max_waiting: '1 MB' }));
  };
  t.equal(await waits(1), undefined);
  t.equal(await waits(bavail * bsize), 'disk');
});
