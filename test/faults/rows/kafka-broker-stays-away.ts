import type { Row } from '../row.js';

export const kafkaBrokerStaysAway: Row = {
  name: 'kafka-broker-stays-away', title: 'one of three brokers killed (-9), and two go on', sets: ['brokers'], answers: 'the broker is killed',
  inject: (world) => world.engines.kill('kafka-2'),
  settle: (world) => world.engines.start('kafka'),
};
