import { missingForPowerCut } from '../../causes/power-cut.js';
import { repeat, startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const powerCut: Row = {
  name: 'power-cut',
  title: 'power cut, again and again: what was not synced is lost or torn',
  sets: ['embedded'],
  needs: { powerCut: true },
  missing: missingForPowerCut,
  answers: 'the process is started again',
  inject: (world) =>
    repeat(world, async (round) => {
      await world.receiver.end('SIGKILL');
      world.power.cut(round % 2 === 1 ? undefined : () => world.random() < 0.5);
      world.power.begin();
      if (round < world.rounds) await world.receiver.start();
    }),
  heal: (world) => startAgain(world.receiver),
};
