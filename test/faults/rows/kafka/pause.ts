import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const kafkaPause: Row = {
  name: 'kafka-pause',
  title: 'Kafka paused, its connections held',
  sets: ['cluster'],
  answers: 'the broker goes on',
  inject: async (world) => {
    await world.engines.pause('kafka');
    await pause(world.awayMs);
  },
  heal: (world) => world.engines.resume('kafka'),
};
