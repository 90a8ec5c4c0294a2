import { outputRows } from '../../outputs/row.js';

export const outputDown = outputRows({
  name: 'output-down',
  title: 'destination down',
  answers: 'the destination listens again',
  begin: async ({ faulty }) => {
    for (const { stream } of faulty) await stream.close();
  },
  end: async ({ faulty }) => {
    for (const { stream } of faulty) await stream.listen();
  },
});
