import { brokersServe, createProbe } from '../../judging/broker-probe.js';
import type { Row } from '../../row.js';

export const kafkaBrokerStaysAway: Row = {
  name: 'kafka-broker-stays-away',
  title: 'one of three brokers killed (-9), and two go on',
  sets: ['brokers'],
  answers: 'a client of its own can append to what any broker led, and finds the group',
  inject: async (world) => {
    await createProbe(world);
    await world.engines.kill('kafka-2');
  },
  heal: brokersServe,
  settle: (world) => world.engines.start('kafka'),
};
