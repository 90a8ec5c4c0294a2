import { killAgainAndAgain, startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const killProcessor: Row = {
  name: 'kill-processor',
  title: 'processor killed (-9), again and again',
  sets: ['cluster'],
  answers: 'the processor is started again',
  inject: (world) => killAgainAndAgain(world, world.processors[0]),
  heal: (world) => startAgain(world.processors[0]),
};
