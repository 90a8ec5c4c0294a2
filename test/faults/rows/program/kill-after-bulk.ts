import { cutByKill, inTime, startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const killAfterBulk: Row = {
  name: 'kill-after-bulk',
  title: 'processor killed (-9) between bulk and commit, started with other rules',
  sets: ['cluster'],
  cases: ['C5'],
  answers: 'the processor is started again',
  inject: async (world) => {
    const { fault, killed } = cutByKill(world);
    world.http.inject({ fault, times: 1 });
    await inTime(killed, 'a bulk');
    world.writeRules({ moved: world.random() < 0.5 });
  },
  heal: (world) => startAgain(world.processors[0]),
};
