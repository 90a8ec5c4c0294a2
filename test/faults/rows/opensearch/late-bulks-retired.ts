import { caughtUp, pause, retentionByRequest, retire, rotatedOnlyByRequest } from '../../acting.js';
import type { Row } from '../../row.js';

const lateMs = 30_000;

export const lateBulksRetired: Row = {
  name: 'late-bulks-retired',
  title: `bulks answered 'timeout' and applied ${lateMs / 1000} s later, when their index is deleted`,
  sets: ['cluster'],
  cases: ['C4'],
  needs: { settings: retentionByRequest, rules: { keep: 1, maxDocuments: rotatedOnlyByRequest } },
  answers: 'bulks pass again',
  inject: async (world) => {
    world.http.inject({ fault: { kind: 'late', afterMs: lateMs } });
    await pause(1_500);
    await world.http.heal();
  },
  heal: async (world) => {
    await caughtUp(world);
    await world.rotate();
    await pause(2_000);
    await retire(world);
  },
  settle: async (world) => {
    await retire(world);
    const answers = await world.http.lateAnswers();
    if (answers.length === 0) throw new Error('no bulk was late');
    await retire(world);
  },
};
