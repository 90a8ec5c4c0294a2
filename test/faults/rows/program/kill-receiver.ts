import { killAgainAndAgain, startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const killReceiver: Row = {
  name: 'kill-receiver',
  title: 'receiver killed (-9), again and again',
  sets: ['cluster'],
  answers: 'the receiver is started again',
  inject: (world) => killAgainAndAgain(world, world.receiver),
  heal: (world) => startAgain(world.receiver),
};
