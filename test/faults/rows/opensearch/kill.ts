import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const openSearchKill: Row = {
  name: 'opensearch-kill',
  title: 'OpenSearch killed (-9) and started',
  sets: ['cluster'],
  answers: 'its indices can be read again',
  inject: async (world) => {
    await world.engines.kill('opensearch');
    await pause(world.awayMs);
  },
  heal: (world) => world.engines.start('opensearch'),
};
