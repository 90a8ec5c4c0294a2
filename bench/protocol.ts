/**
 * What the delivery protocol costs of a message's CPU: the same topic worked off with it, and with the fence and the look at the sequences switched
 * off; alternating pairs, the median counts. `node build/bench/protocol.js [messages] [pairs]`, with SLUICE_TEST_KAFKA; the store only counts.
 */
import { fileURLToPath } from 'node:url';
import type { checkResends } from '../pipeline/delivery/sequences.js';
import type { TopicLog } from '../pipeline/topics/contract.js';
import { kafkaBrokers } from '../test/engines.js';
import { createMemoryState } from './memory-state.js';
import { cpuMicroseconds, createProcessing, fill, kafkaConfig, median, openTopics, removeTopics } from './processing.js';

export interface ProtocolCost {
  /** Microseconds of CPU a message, medians. */
  readonly withProtocol: number;
  readonly without: number;
  /** Of each pair: what the protocol adds, as a share of the whole. */
  readonly shares: readonly number[];
  readonly share: number;
}

const nobody: ReadonlySet<number> = new Set();
const noCheck: typeof checkResends = (_, before) => ({ resent: nobody, after: before, missing: 0, evicted: 0 });
const noFence = (topics: TopicLog): TopicLog => ({
  ...topics, consume: (options, handler) => topics.consume(options, { ...handler, batch: (batch) => handler.batch({ ...batch, fence: async () => undefined }) }),
});

export async function benchProtocol(brokers: string, messages: number, pairs: number): Promise<ProtocolCost> {
  const config = kafkaConfig(brokers);
  const topics = openTopics(config);
  await topics.start();
  const groups: string[] = [];
  const once = async (protocol: boolean): Promise<number> => {
    const group = `${config.processing.group}-${groups.length}`;
    groups.push(group);
    const processing = createProcessing({ config, topics: protocol ? topics : noFence(topics), state: createMemoryState(), group, ...(protocol ? {} : { checkResends: noCheck }) });
    await processing.start();
    const before = cpuMicroseconds();
    await processing.reached(messages);
    const used = cpuMicroseconds() - before;
    await processing.stop();
    return used / messages;
  };
  try {
    await fill(topics, config, messages);
    await once(true);
    await once(false);
    const costs: { readonly on: number; readonly off: number }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      // Which one goes first changes from pair to pair.
      const first = await once(pair % 2 === 0);
      const second = await once(pair % 2 !== 0);
      costs.push(pair % 2 === 0 ? { on: first, off: second } : { on: second, off: first });
    }
    const shares = costs.map(({ on, off }) => (on - off) / on);
    return { withProtocol: median(costs.map(({ on }) => on)), without: median(costs.map(({ off }) => off)), shares, share: median(shares) };
  } finally {
    await removeTopics(config, groups);
    await topics.stop(2_000);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const brokers = kafkaBrokers();
  if (brokers === undefined) process.stdout.write('protocol: left out, set SLUICE_TEST_KAFKA\n');
  else {
    const { withProtocol, without, share, shares } = await benchProtocol(brokers, Number(process.argv[2] ?? 200_000), Number(process.argv[3] ?? 9));
    process.stdout.write(`with the protocol ${withProtocol.toFixed(2)} us of CPU a message, without fence and sequences ${without.toFixed(2)}: ${(share * 100).toFixed(1)} % (median of ${shares.length} pairs: ${shares.map((value) => (value * 100).toFixed(1)).join(', ')}); wanted: at most 3 %\n`);
  }
}
