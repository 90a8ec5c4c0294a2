import { blockSet, drained, parked, parkSoon, pause, retentionByRequest, retire } from '../../acting.js';
import { merge } from '../../world/program-process.js';
import type { Row } from '../../row.js';

const lateMs = 20_000;

export const lateBulksParked: Row = {
  name: 'late-bulks-parked',
  title: `bulks answered 'timeout' and applied ${lateMs / 1000} s later; their set parked, rotated and under retention meanwhile`,
  sets: ['cluster'],
  cases: ['C7', 'C8'],
  needs: { settings: merge(parkSoon, retentionByRequest), rules: { keep: 1 } },
  answers: 'the block is taken away',
  inject: async (world) => {
    world.http.inject({ fault: { kind: 'late', afterMs: lateMs } });
    await pause(1_000);
    await blockSet(world, 'sluice_default', true);
    await world.http.heal();
    await parked(world, 'sluice_default');
    await world.rotate();
    await pause(1_000);
    await world.rotate();
    await retire(world);
  },
  heal: (world) => blockSet(world, 'sluice_default', false),
  settle: async (world) => {
    await world.http.lateAnswers();
    await drained(world);
    await retire(world);
  },
};
