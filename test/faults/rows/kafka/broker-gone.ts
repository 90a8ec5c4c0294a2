import { pause } from '../../acting.js';
import { brokersServe, createProbe } from '../../judging/broker-probe.js';
import type { Row } from '../../row.js';
import type { World } from '../../world/world.js';

const starts = new WeakMap<World, Promise<void>>();

/** Full speed is wanted with two brokers; the third is started meanwhile, as a supervisor does. */
export const kafkaBrokerGone: Row = {
  name: 'kafka-broker-gone',
  title: 'one of three brokers killed (-9), each in turn',
  sets: ['brokers'],
  answers: 'after the last kill a client of its own can append to what any broker led, and finds the group',
  inject: async (world) => {
    await createProbe(world);
    for (const broker of ['kafka-1', 'kafka-2', 'kafka-3'] as const) {
      await world.engines.kill(broker);
      if (broker === 'kafka-3') return;
      await pause(world.awayMs);
      await world.engines.start('kafka');
      await pause(world.awayMs);
    }
  },
  heal: async (world) => {
    const started = pause(world.awayMs).then(() => world.engines.start('kafka'));
    started.catch(() => undefined);
    starts.set(world, started);
    await brokersServe(world);
  },
  settle: (world) => starts.get(world) ?? Promise.resolve(),
};
