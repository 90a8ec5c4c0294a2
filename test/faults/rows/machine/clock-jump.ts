import { missingForClock } from '../../causes/clock.js';
import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

const hours = 3_600;

export const clockJump: Row = {
  name: 'clock-jump',
  title: "Sluice's clock three hours forward, three back, and right again",
  sets: ['embedded', 'cluster'],
  needs: { clock: true },
  missing: missingForClock,
  answers: 'the clock is right again',
  acceptsAll: true,
  inject: async (world) => {
    world.moveClock(3 * hours);
    await pause(world.awayMs);
    world.moveClock(-3 * hours);
    await pause(world.awayMs);
  },
  heal: async (world) => world.moveClock(0),
};
