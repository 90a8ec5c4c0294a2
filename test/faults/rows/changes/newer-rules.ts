import { startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const newerRules: Row = {
  name: 'newer-rules',
  title: 'stopped, and started with a newer rule set',
  sets: ['embedded', 'cluster'],
  answers: 'the process is started again',
  inject: async (world) => {
    await world.processors[0].end('SIGTERM');
    world.writeRules({ moved: true });
  },
  heal: (world) => startAgain(world.processors[0]),
};
