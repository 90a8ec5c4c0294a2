import { repeat } from '../../acting.js';
import type { Row } from '../../row.js';

/** Each change takes all messages out of one index set and into another. */
export const ruleReload: Row = {
  name: 'rule-reload',
  title: 'rules that send every message elsewhere, changed again and again',
  sets: ['embedded', 'cluster'],
  answers: 'the last change is written',
  inject: (world) => repeat(world, async (round) => world.writeRules({ moved: round % 2 === 1 })),
};
