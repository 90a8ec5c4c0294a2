import { repeat } from '../../acting.js';
import type { Row } from '../../row.js';

export const rebalance: Row = {
  name: 'rebalance',
  title: 'a processor leaves and joins, again and again, by request and by kill -9',
  sets: ['cluster'],
  needs: { shape: 'pair' },
  answers: 'the last one has joined',
  inject: async (world) => {
    const joining = world.processors[1] ?? world.processors[0];
    await repeat(world, async (round) => {
      await joining.end(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      await joining.start();
    });
  },
};
