import { killAgainAndAgain, startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const killAllInOne: Row = {
  name: 'kill-all-in-one',
  title: 'the one process of all roles killed (-9), again and again',
  sets: ['embedded', 'cluster'],
  needs: { shape: 'one' },
  answers: 'the process is started again',
  inject: (world) => killAgainAndAgain(world, world.receiver),
  heal: (world) => startAgain(world.receiver),
};
