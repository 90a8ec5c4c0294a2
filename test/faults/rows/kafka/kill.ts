import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const kafkaKill: Row = {
  name: 'kafka-kill',
  title: 'Kafka killed (-9) and started',
  sets: ['cluster'],
  answers: 'the broker listens again',
  inject: async (world) => {
    await world.engines.kill('kafka');
    await pause(world.awayMs);
  },
  heal: (world) => world.engines.start('kafka'),
};
