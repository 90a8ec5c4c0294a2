import { setTimeout as wait } from 'node:timers/promises';
import { outputRows } from '../../outputs/row.js';

const everyMs = 300;

export const outputReset = outputRows({
  name: 'output-reset',
  title: 'connections reset again and again',
  answers: 'the last reset',
  begin: async ({ faulty }, signal) => {
    while (!signal.aborted) {
      for (const { stream } of faulty) stream.reset();
      await wait(everyMs);
    }
  },
  end: () => undefined,
});
