import { inTime, startAgain } from '../../acting.js';
import type { Row } from '../../row.js';

export const killAfterBulk: Row = {
  name: 'kill-after-bulk',
  title: 'processor killed (-9) between bulk and commit, started with other rules',
  sets: ['cluster'],
  cases: ['C5'],
  answers: 'the processor is started again',
  inject: async (world) => {
    const [processor] = world.processors;
    let killed: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      killed = resolve;
    });
    world.http.inject({ fault: { kind: 'cut', act: () => processor.end('SIGKILL').then(killed) }, times: 1 });
    await inTime(gone, 'a bulk');
    world.writeRules({ moved: world.random() < 0.5 });
  },
  heal: (world) => startAgain(world.processors[0]),
};
