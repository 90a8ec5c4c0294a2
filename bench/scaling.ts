/**
 * CPU a message of two processors against one, over the same filled topic:
 * `node build/bench/scaling.js [messages] [rounds]`, with SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH (which keeps
 * only the state here; the store only counts). Each processor is a process of its own, compiled and warm before it
 * counts. Cores that share caches and execution units make everything dearer that runs beside something else, so two
 * strangers, each with a consumer group of its own over the whole topic, run as a third: what two processors of one
 * group cost beyond them is what sharing the work costs.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { silentLog } from '../core/log.js';
import { kafkaBrokers, openSearchNode } from '../test/engines.js';
import { createOpenSearchState } from '../state/opensearch.js';
import { createMemoryState } from './memory-state.js';
import {
  benchConfig,
  cpuMicroseconds,
  createProcessing,
  fill,
  kafkaConfig,
  median,
  openTopics,
  removeTopics,
} from './processing.js';

interface Order {
  readonly prefix: string;
  readonly group: string;
  readonly stateIndex: string;
}

interface Told {
  readonly stored?: number;
  readonly cpu?: number;
}

const file = fileURLToPath(import.meta.url);
const warmMessages = 60_000;

/** One processor: warms up on a topic of its own, then works. */
async function worker({ prefix, group, stateIndex }: Order): Promise<void> {
  const config = benchConfig({
    topics: { kind: 'kafka', prefix, kafka: { brokers: (kafkaBrokers() as string).split(',') } },
  });
  const topics = openTopics(config);
  await topics.start();
  const warm = createProcessing({
    config: { ...config, topics: { ...config.topics, prefix: `${prefix}warm.` } },
    topics,
    state: createMemoryState(),
    group: `${group}-warm-${process.pid}`,
  });
  await warm.start();
  await warm.reached(warmMessages);
  await warm.stop();
  process.send?.({ stored: 0 } satisfies Told);
  await once(process, 'message');
  const state = createOpenSearchState({
    nodes: [openSearchNode() as string],
    username: '',
    password: '',
    tls: config.store.opensearch.tls,
    requestTimeoutMs: 10_000,
    index: stateIndex,
    log: silentLog,
  });
  await state.start();
  const processing = createProcessing({
    config,
    topics,
    state,
    group,
    onStored: (stored) => {
      process.send?.({ stored } satisfies Told);
    },
  });
  // Compiling rules and joining the group is done once, however long it runs.
  await processing.start();
  const before = cpuMicroseconds();
  await once(process, 'message');
  process.send?.({ cpu: cpuMicroseconds() - before } satisfies Told);
  await processing.stop();
  await state.stop(1_000);
  await topics.stop(1_000);
  process.disconnect();
}

/**
 * Microseconds of CPU a message, of all processors together, and what each stored. Strangers each work the whole topic
 * off.
 */
async function round(
  prefix: string,
  processors: number,
  messages: number,
  strangers = false,
): Promise<{ readonly cost: number; readonly seconds: number; readonly each: readonly number[] }> {
  const newOrder = (): Order => ({
    prefix,
    group: `${prefix}${processors}-${randomBytes(3).toString('hex')}`,
    stateIndex: `${prefix.replace('.', '')}-state-${randomBytes(3).toString('hex')}`,
  });
  const shared = newOrder();
  const orders = Array.from({ length: processors }, () => (strangers ? newOrder() : shared));
  const wanted = strangers ? messages * processors : messages;
  const children = orders.map((order) => fork(file, ['worker', JSON.stringify(order)]));
  const each = children.map(() => 0);
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    const began = performance.now();
    await new Promise<void>((resolve) => {
      let stored = 0;
      children.forEach((child, at) =>
        child.on('message', (told: Told) => {
          each[at] = (each[at] ?? 0) + (told.stored ?? 0);
          stored += told.stored ?? 0;
          if (stored >= wanted) resolve();
        }),
      );
      for (const child of children) child.send({});
    });
    const seconds = (performance.now() - began) / 1000;
    const costs = await Promise.all(children.map(cpuOf));
    return { cost: costs.reduce((sum, cpu) => sum + cpu, 0) / wanted, seconds, each };
  } finally {
    await Promise.all(
      children
        .filter((child) => child.exitCode === null && child.signalCode === null)
        .map((child) => once(child, 'exit')),
    );
    for (const { stateIndex } of orders)
      await fetch(`${openSearchNode()}/${stateIndex}`, { method: 'DELETE' }).catch(() => undefined);
  }
}

function cpuOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on('message', (told: Told) => {
      if (told.cpu !== undefined) resolve(told.cpu);
    });
    child.send({});
  });
}

async function run(messages: number, rounds: number): Promise<void> {
  const config = kafkaConfig(kafkaBrokers() as string);
  const topics = openTopics(config);
  await topics.start();
  try {
    await fill(
      topics,
      { ...config, topics: { ...config.topics, prefix: `${config.topics.prefix}warm.` } },
      warmMessages,
    );
    await fill(topics, config, messages);
    const ratios: number[] = [];
    const besideStrangers: number[] = [];
    for (let number = 0; number < rounds; number += 1) {
      const one = await round(config.topics.prefix, 1, messages);
      const two = await round(config.topics.prefix, 2, messages);
      const strangers = await round(config.topics.prefix, 2, messages, true);
      ratios.push(two.cost / one.cost);
      besideStrangers.push(two.cost / strangers.cost);
      process.stdout.write(
        `one processor ${one.cost.toFixed(2)} us of CPU a message, ${Math.round(messages / one.seconds)}/s; two ${two.cost.toFixed(2)} us, ${Math.round(messages / two.seconds)}/s, ${two.each.join(' and ')} messages: ${(two.cost / one.cost).toFixed(2)} times; two strangers ${strangers.cost.toFixed(2)} us: ${(two.cost / strangers.cost).toFixed(2)} times\n`,
      );
    }
    process.stdout.write(
      `two processors cost ${median(ratios).toFixed(2)} times the CPU of one (median of ${rounds}); wanted: at most 1.1; and ${median(besideStrangers).toFixed(2)} times that of two strangers on the same cores\n`,
    );
  } finally {
    await removeTopics(config, []);
    await topics.stop(2_000);
  }
}

if (process.argv[2] === 'worker') await worker(JSON.parse(process.argv[3] ?? '{}') as Order);
else if (process.argv[1] === file) {
  if (kafkaBrokers() === undefined || openSearchNode() === undefined)
    process.stdout.write('scaling: left out, set SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH\n');
  else await run(Number(process.argv[2] ?? 400_000), Number(process.argv[3] ?? 3));
}
