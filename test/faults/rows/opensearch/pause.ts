import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const openSearchPause: Row = {
  name: 'opensearch-pause',
  title: 'OpenSearch paused, its connections held',
  sets: ['cluster'],
  answers: 'it goes on',
  inject: async (world) => {
    await world.engines.pause('opensearch');
    await pause(world.awayMs);
  },
  heal: (world) => world.engines.resume('opensearch'),
};
