import { blockSet, drained, parked, parkSoon, pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const openSearchReadOnly: Row = {
  name: 'opensearch-read-only',
  title: 'an index set made read-only: parked, and drained again',
  sets: ['cluster'],
  cases: ['C7'],
  needs: { settings: parkSoon },
  answers: 'the block is taken away',
  inject: async (world) => {
    await blockSet(world, 'sluice_default', true);
    await parked(world, 'sluice_default');
    await pause(world.awayMs / 2);
  },
  heal: (world) => blockSet(world, 'sluice_default', false),
  settle: drained,
};
