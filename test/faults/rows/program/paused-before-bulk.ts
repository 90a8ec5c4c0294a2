import { caughtUp, holdNext, inTime, takenOver } from '../../acting.js';
import type { Row } from '../../row.js';

let release: () => void = () => undefined;

export const pausedBeforeBulk: Row = {
  name: 'paused-before-bulk',
  title: 'a processor paused past its session between fetch and bulk, its set rotated twice, and woken',
  sets: ['cluster'],
  cases: ['C2'],
  needs: { shape: 'pair' },
  answers: 'the processor goes on',
  inject: async (world) => {
    const held = holdNext(world.http);
    await inTime(held.arrived, 'a bulk');
    world.processors[0].pause();
    release = held.release;
    await takenOver(world);
    await world.rotate();
    await caughtUp(world);
    await world.rotate();
  },
  heal: async (world) => {
    release();
    world.processors[0].resume();
  },
};
