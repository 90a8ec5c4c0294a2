import { pause } from '../acting.js';
import type { Row } from '../row.js';

/** Full speed is wanted with two brokers: the third comes back only afterwards. */
export const kafkaBrokerGone: Row = {
  name: 'kafka-broker-gone', title: 'one of three brokers killed (-9), each in turn', sets: ['brokers'], answers: 'the last killed broker listens again',
  inject: async (world) => {
    for (const broker of ['kafka-1', 'kafka-2', 'kafka-3'] as const) {
      await world.engines.kill(broker);
      await pause(world.awayMs);
      if (broker !== 'kafka-3') {
        await world.engines.start('kafka');
        await pause(world.awayMs);
      }
    }
  },
  heal: (world) => world.engines.start('kafka'),
};
