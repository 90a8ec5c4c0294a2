import { blockSet, drained, parked, parkSoon, pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const blockedSetRebalanced: Row = {
  name: 'blocked-set-rebalanced',
  title: 'a set parked, its partitions handed to another processor, and unblocked',
  sets: ['cluster'],
  cases: ['C9'],
  needs: { shape: 'pair', settings: parkSoon },
  answers: 'the block is taken away',
  inject: async (world) => {
    await blockSet(world, 'sluice_default', true);
    await parked(world, 'sluice_default');
    await world.processors[0].end('SIGTERM');
    await pause(2_000);
    await world.processors[0].start();
    await world.processors[1]?.end('SIGKILL');
    await world.processors[1]?.start();
  },
  heal: (world) => blockSet(world, 'sluice_default', false),
  settle: drained,
};
