import { holdNext, inTime, takenOver } from '../../acting.js';
import type { Row } from '../../row.js';

let release: () => void = () => undefined;
const isPartitionRecord = (method: string, path: string): boolean => method === 'PUT' && path.includes('partitions%2F');

export const pausedBeforeCut: Row = {
  name: 'paused-before-cut',
  title: "a processor paused past its session just before its cut's compare-and-set, its set rotated, and woken",
  sets: ['cluster'],
  cases: ['C2'],
  needs: { shape: 'pair' },
  answers: 'the processor goes on',
  inject: async (world) => {
    const held = holdNext(world.http, isPartitionRecord);
    await world.rotate();
    await inTime(held.arrived, 'a partition record');
    world.processors[0].pause();
    release = held.release;
    await takenOver(world);
    await world.rotate();
  },
  heal: async (world) => {
    release();
    world.processors[0].resume();
  },
};
