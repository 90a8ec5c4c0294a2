import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

const lateMs = 20_000;

export const lateBulksKilled: Row = {
  name: 'late-bulks-killed',
  title: `bulks answered 'timeout' and applied ${lateMs / 1000} s later; the processor killed and the index rotated meanwhile`,
  sets: ['cluster'],
  cases: ['C1'],
  answers: 'bulks pass again and the processor runs',
  inject: async (world) => {
    world.http.inject({ fault: { kind: 'late', afterMs: lateMs } });
    await pause(1_000);
    await world.processors[0].end('SIGKILL');
    await world.http.heal();
  },
  heal: async (world) => {
    await world.processors[0].start();
    await world.rotate();
  },
  settle: async (world) => {
    await world.http.lateAnswers();
  },
};
