import { cutByKill, inTime, startAgain } from '../../acting.js';
import { isDocuments, isTombstones } from '../../causes/http-proxy.js';
import type { Row } from '../../row.js';

export const refusedThenTaken: Row = {
  name: 'refused-then-taken',
  title: 'documents refused, the processor killed (-9) before their dead letters, and taken after that',
  sets: ['cluster'],
  cases: ['C6'],
  answers: 'the processor is started again',
  inject: async (world) => {
    const { fault, killed } = cutByKill(world);
    world.http.inject({
      fault: { kind: 'item_refused', every: 1, type: 'illegal_argument_exception', reason: 'injected by the proxy' },
      matches: isDocuments,
    });
    world.http.inject({
      fault,
      times: 1,
      matches: isTombstones,
    });
    await inTime(killed, 'a tombstone of a refused document');
    await world.http.heal();
  },
  heal: (world) => startAgain(world.processors[0]),
};
