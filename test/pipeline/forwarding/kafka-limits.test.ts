/**
 * The policies for waiting messages on a real Kafka. Messages are numbered as their offsets, so that the offsets tell
 * what must have been counted.
 */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import t, { type Test } from 'tap';
import { loadConfig } from '../../../program/settings.js';
import { buildMetrics, Registry } from '../../../core/metrics.js';
import { silentLog } from '../../../core/log.js';
import { createForwarder } from '../../../pipeline/forwarding/forward.js';
import { createLimits } from '../../../pipeline/forwarding/limits.js';
import { outputMetrics } from '../../../pipeline/forwarding/metrics.js';
import { outputTopicSpec } from '../../../pipeline/forwarding/topics.js';
import { createKafkaTopicLog } from '../../../topics/kafka.js';
import type { TopicLog } from '../../../topics/contract.js';
import type { Routing } from '../../../rules/contract.js';
import { kafkaBrokers, skipWithoutKafka } from '../../engines.js';
import { until } from '../../program.js';
import { compiled } from '../../rules/support.js';
import { createStreamDestination, type StreamDestination } from '../../sinks/outputs/receivers.js';
import { metricValue } from '../../topics/embedded/folder.js';
import { removeAll } from '../../topics/kafka/removing.js';
import { createWorld, firstNumbers, numbered, type Settings, type World } from './world.js';

const waitMostMs = 60_000;
const fill = `,"_fill":"${'x'.repeat(900)}"`;
const options = { ...skipWithoutKafka(), timeout: 150_000 };

interface OnKafka {
  readonly world: World;
  readonly destination: StreamDestination;
  readonly topics: TopicLog;
  readonly topic: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Offsets, asked of Kafka. */
  offsets(): Promise<{ earliest: number; logEnd: number; committed: number | undefined }>;
  /** What reached the destination, in order of first arrival, when it has the message of the last offset. */
  arrived(): Promise<number[]>;
}

async function onKafka(t: Test, output: Settings): Promise<OnKafka> {
  const brokers = kafkaBrokers()?.split(',') ?? [];
  const suffix = randomBytes(5).toString('hex');
  const settings = {
    topics: { kind: 'kafka', prefix: `limits-${suffix}.`, kafka: { brokers } },
    processing: { group: `limits-${suffix}` },
  };
  const topic = `limits-${suffix}.output.${output.id}`;
  const group = `limits-${suffix}.output.${output.id}`;
  t.teardown(() => removeAll(brokers, suffix));
  const destination = await createStreamDestination(t);
  await destination.close();
  let log: TopicLog | undefined;
  const world = await createWorld(t, [{ port: destination.port, ...output }], {
    settings,
    topics: (registry) => (log = createKafkaTopicLog({ brokers, log: silentLog, registry })),
  });
  const topics = log as TopicLog;
  const offsets: OnKafka['offsets'] = async () => {
    const [[state], committed] = await Promise.all([topics.partitions(topic), topics.committed(group, topic)]);
    return { earliest: state?.earliest ?? 0, logEnd: state?.logEnd ?? 0, committed: committed.get(0) };
  };
  const arrived = async (): Promise<number[]> => {
    const { logEnd } = await offsets();
    return until(
      () => {
        const numbers = firstNumbers(destination.frames(0));
        return numbers.at(-1) === logEnd - 1 ? numbers : undefined;
      },
      waitMostMs,
      () => `not everything came: ${JSON.stringify(world.logged.slice(-5))}`,
    );
  };
  return { world, destination, topics, topic, settings, offsets, arrived };
}

const ascending = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => at === 0 || number > (numbers[at - 1] as number));
const dropped = (world: World): Promise<number> => world.metric('messages_dropped_total', 'a');
const committedAt = (kafka: OnKafka, offset: number): Promise<true> =>
  until(
    async () => (((await kafka.offsets()).committed ?? -1) >= offset ? true : undefined),
    waitMostMs,
    () => `offset ${offset} is not committed`,
  );

t.test('hold: however much waits, nothing is dropped, and all of it leaves in order', options, async (t) => {
  const kafka = await onKafka(t, { id: 'a', max_waiting: '100 kB' });
  await kafka.world.append('a', numbered(0, 2_000, fill));
  await until(
    async () => ((await kafka.world.status('a')).lastError === undefined ? undefined : true),
    waitMostMs,
    () => 'no attempt',
  );
  await kafka.destination.listen();
  const numbers = await kafka.arrived();
  t.equal(numbers.length, 2_000);
  t.ok(ascending(numbers));
  await committedAt(kafka, 2_000);
  t.equal(await dropped(kafka.world), 0);
});

t.test('drop_oldest: what is given up and what is sent are all offsets', options, async (t) => {
  const kafka = await onKafka(t, {
    id: 'a',
    on_full: 'drop_oldest',
    max_waiting: '1 MB',
    unconfirmed_bytes: '128 KiB',
  });
  for (let round = 0; round < 6; round += 1)
    await kafka.world.append('a', numbered(round * 1_000, round * 1_000 + 1_000, fill));
  await until(
    async () => ((await dropped(kafka.world)) > 4_500 ? true : undefined),
    waitMostMs,
    () => JSON.stringify(kafka.world.logged.slice(-5)),
  );
  await committedAt(kafka, 4_500);
  await kafka.destination.listen();
  const numbers = await kafka.arrived();
  await committedAt(kafka, 6_000);
  t.ok(ascending(numbers));
  t.equal(numbers.length, 6_000 - (numbers[0] as number), 'no holes');
  t.equal(numbers.length + (await dropped(kafka.world)), (await kafka.offsets()).logEnd);
  t.ok(
    numbers.length * 1_000 <= 1_000_000,
    `${numbers.length} messages of about 1 kB waited at the end: the bound is in bytes, though Kafka does not tell them`,
  );
});

t.test(
  'drop_newest: what is not taken is counted, what was taken leaves, and then there is room again',
  options,
  async (t) => {
    const kafka = await onKafka(t, { id: 'a', on_full: 'drop_newest', max_waiting: '1 MB' });
    const registry = new Registry();
    const metrics = buildMetrics(registry, outputMetrics);
    const { config } = loadConfig({ folder: tmpdir(), environment: {}, overrides: kafka.settings });
    const rules = compiled({
      outputs: [
        {
          id: 'a',
          type: 'gelf',
          host: '127.0.0.1',
          port: 1,
          streams: ['all-messages'],
          on_full: 'drop_newest',
          max_waiting: '1 MB',
        },
      ],
    });
    // Each look comes when the one before is over: time runs by itself.
    let time = 0;
    const limits = createLimits(config, kafka.topics, () => (time += 10_000));
    const forwarder = createForwarder({
      topics: kafka.topics,
      specOf: (output) => outputTopicSpec(config, kafka.topics.capabilities(), output),
      limits,
      metrics,
      log: silentLog,
    });
    const routing = { streams: ['all-messages'], indexSets: [], dropped: false } as unknown as Routing;
    const output = rules.outputs?.[0];
    if (output === undefined) throw new Error('no output');
    forwarder.collectorOf(rules, new Map())?.outputsOf(routing);
    let given = 0;
    const deliver = async (): Promise<number> => {
      const { logEnd } = await kafka.offsets();
      // The numbers of those that are not taken are given again, so that numbers stay offsets.
      await forwarder.deliver(
        new Map([
          [
            'a',
            numbered(logEnd, logEnd + 200, fill).map((value, at) => ({
              key: `k${given + at}`,
              value: Buffer.from(value),
              timestamp: Date.now(),
              origin: 'r p',
            })),
          ],
        ]),
      );
      given += 200;
      return (await kafka.offsets()).logEnd - logEnd;
    };
    const refused = async (): Promise<number> =>
      metricValue(registry, 'sluice_output_messages_dropped_total', { output: 'a' });
    await until(
      async () => ((await deliver()) === 0 ? true : undefined),
      waitMostMs,
      () => 'nothing was refused',
    );
    const { logEnd } = await kafka.offsets();
    t.equal(await refused(), given - logEnd, 'given and not in the topic');
    t.ok(logEnd >= 800 && logEnd <= 3_000, `${logEnd} messages of about 1 kB were taken`);
    await kafka.destination.listen();
    t.same(
      await kafka.arrived(),
      Array.from({ length: logEnd }, (_, at) => at),
    );
    await committedAt(kafka, logEnd);
    await until(
      async () => ((await deliver()) === 200 ? true : undefined),
      waitMostMs,
      () => 'nothing is taken again',
    );
    t.equal(await refused(), given - (await kafka.offsets()).logEnd);
  },
);

t.test(
  "what Kafka's own retention removes is counted from the offsets: never sent, and behind what is being sent",
  options,
  async (t) => {
    const kafka = await onKafka(t, { id: 'a', unconfirmed_bytes: '128 KiB' });
    await committedAt(kafka, 0);
    await kafka.world.outputs.stop(2_000);
    await kafka.world.append('a', numbered(0, 5_000, fill));
    // As retention does it, but at once.
    await kafka.topics.trim(kafka.topic, 0, 1_000);
    await kafka.world.restart();
    await until(
      async () => ((await dropped(kafka.world)) === 1_000 ? true : undefined),
      waitMostMs,
      () => 'the gap before the first message is not counted',
    );
    await until(
      async () => ((await kafka.world.status('a')).lastError === undefined ? undefined : true),
      waitMostMs,
      () => 'no attempt',
    );
    await kafka.world.append('a', numbered(5_000, 9_000, fill));
    await kafka.topics.trim(kafka.topic, 0, 8_500);
    await kafka.destination.listen();
    const numbers = await kafka.arrived();
    await committedAt(kafka, 9_000);
    t.ok(ascending(numbers));
    t.equal(numbers[0], 1_000);
    t.ok(numbers.includes(8_500), 'what is left is sent');
    t.equal(numbers.length + (await dropped(kafka.world)), 9_000);
  },
);
