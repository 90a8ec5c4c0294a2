import { pause, repeat, retentionByRequest, retire } from '../../acting.js';
import type { Row } from '../../row.js';

export const retention: Row = {
  name: 'retention',
  title: 'rotated and retired down to two indices, again and again',
  sets: ['embedded', 'cluster'],
  needs: { settings: retentionByRequest, rules: { keep: 2 } },
  answers: 'retention has run',
  inject: (world) =>
    repeat(world, async () => {
      await world.rotate();
      // What is under way for the former index comes to its end, so that the ids are complete when they are kept.
      await pause(2_000);
      await retire(world);
    }),
  settle: retire,
};
