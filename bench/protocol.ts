/**
 * What the delivery protocol costs of a message's CPU: a topic is worked off, and the fence and the look at the
 * sequences are switched off and on again after every `stretch` messages, in the order on, off, off, on, so that a slow
 * second of the machine falls on both. Each time that the topic is worked off is one pair; the median of the pairs
 * counts. `node build/bench/protocol.js [messages] [pairs]`, with SLUICE_TEST_KAFKA; the store only counts.
 */
import { fileURLToPath } from 'node:url';
import { prefixWidth, sequenceOf } from '../core/message-ids.js';
import type { checkResends } from '../pipeline/delivery/sequences.js';
import { checkResends as lookAtAll } from '../pipeline/delivery/sequences.js';
import type { TopicLog } from '../topics/contract.js';
import { kafkaBrokers } from '../test/engines.js';
import { createMemoryState } from './memory-state.js';
import {
  cpuMicroseconds,
  createProcessing,
  fill,
  kafkaConfig,
  median,
  openTopics,
  removeTopics,
} from './processing.js';

interface ProtocolCost {
  /** Microseconds of CPU a message, medians. */
  readonly withProtocol: number;
  readonly without: number;
  /** What the protocol adds in each pair, as a share of the whole. */
  readonly shares: readonly number[];
  readonly share: number;
}

/** At its end some thousand messages have been fetched that are processed in the next one. */
const stretch = 100_000;
/** First stretches of each pass over the topic that do not count: connecting and the first fetches are in them. */
const leftOut = 1;
const order = [true, false, false, true];
const protocolIn = (number: number): boolean => order[(number + order.length - leftOut) % order.length] as boolean;

const nobody: ReadonlySet<number> = new Set();

/**
 * Takes every id for new; of one it keeps the sequence, so that no gap is found when the looking is switched on again.
 */
const noCheck: typeof checkResends = (keys, before) => {
  const last = keys.at(-1)?.key ?? '';
  const sequence = sequenceOf(last);
  return {
    resent: nobody,
    after: sequence === undefined ? before : new Map(before).set(last.slice(0, prefixWidth), sequence),
    missing: 0,
    evicted: 0,
  };
};

interface Pair {
  readonly on: number;
  readonly off: number;
}

/** CPU and messages of a stretch, which ends with a batch. */
interface Stretch {
  readonly protocol: boolean;
  readonly perMessage: number;
}

/** CPU a message of the stretches with and without. */
function pairOf(stretches: readonly Stretch[]): Pair {
  const counted = stretches.slice(
    leftOut,
    leftOut + Math.floor((stretches.length - leftOut) / order.length) * order.length,
  );
  const perMessage = (protocol: boolean): number => {
    const own = counted.filter((one) => one.protocol === protocol);
    return own.reduce((sum, one) => sum + one.perMessage, 0) / own.length;
  };
  return { on: perMessage(true), off: perMessage(false) };
}

async function benchProtocol(brokers: string, messages: number, pairs: number): Promise<ProtocolCost> {
  const config = kafkaConfig(brokers);
  const topics = openTopics(config);
  await topics.start();
  const groups: string[] = [];
  let protocol = true;
  const switched: TopicLog = {
    ...topics,
    consume: (options, handler) =>
      topics.consume(options, {
        ...handler,
        batch: (batch) => handler.batch({ ...batch, fence: async () => (protocol ? batch.fence() : undefined) }),
      }),
  };
  const once = async (): Promise<Pair> => {
    const group = `${config.processing.group}-${groups.length}`;
    groups.push(group);
    const stretches: Stretch[] = [];
    let stored = 0;
    let began = cpuMicroseconds();
    protocol = protocolIn(0);
    const onStored = (documents: number): void => {
      stored += documents;
      if (stored < stretch) return;
      stretches.push({ protocol, perMessage: (cpuMicroseconds() - began) / stored });
      protocol = protocolIn(stretches.length);
      stored = 0;
      began = cpuMicroseconds();
    };
    const processing = createProcessing({
      config,
      topics: switched,
      state: createMemoryState(),
      group,
      onStored,
      checkResends: (keys, before) => (protocol ? lookAtAll : noCheck)(keys, before),
    });
    await processing.start();
    await processing.reached(messages);
    await processing.stop();
    return pairOf(stretches);
  };
  try {
    await fill(topics, config, messages);
    await once();
    const costs: Pair[] = [];
    for (let pair = 0; pair < pairs; pair += 1) costs.push(await once());
    const shares = costs.map(({ on, off }) => (on - off) / on);
    return {
      withProtocol: median(costs.map(({ on }) => on)),
      without: median(costs.map(({ off }) => off)),
      shares,
      share: median(shares),
    };
  } finally {
    await removeTopics(config, groups);
    await topics.stop(2_000);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const brokers = kafkaBrokers();
  if (brokers === undefined) process.stdout.write('protocol: left out, set SLUICE_TEST_KAFKA\n');
  else {
    const { withProtocol, without, share, shares } = await benchProtocol(
      brokers,
      Number(process.argv[2] ?? 1_000_000),
      Number(process.argv[3] ?? 9),
    );
    process.stdout.write(
      `with the protocol ${withProtocol.toFixed(2)} us of CPU a message, without fence and sequences ${without.toFixed(2)}: ${(share * 100).toFixed(1)} % (median of ${shares.length} pairs: ${shares.map((value) => (value * 100).toFixed(1)).join(', ')}); wanted: at most 3 %\n`,
    );
  }
}
