import { repeat } from '../../acting.js';
import type { Row } from '../../row.js';

export const rotation: Row = {
  name: 'rotation',
  title: 'rotated by request, again and again',
  sets: ['embedded', 'cluster'],
  answers: 'the last rotation is done',
  inject: (world) => repeat(world, () => world.rotate()),
};
