import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const bulkAcknowledgementsCut: Row = {
  name: 'bulk-acknowledgements-cut',
  title: 'answers to bulks cut after they were applied',
  sets: ['cluster'],
  answers: 'the last one is cut',
  inject: async ({ http, awayMs }) => {
    http.inject({ fault: { kind: 'cut' }, times: 20 });
    await pause(awayMs / 2);
  },
  heal: ({ http }) => http.heal(),
};
