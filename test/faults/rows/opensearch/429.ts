import { pause } from '../../acting.js';
import type { Row } from '../../row.js';

export const openSearch429: Row = {
  name: 'opensearch-429',
  title: 'OpenSearch answers 429, to whole bulks and to single documents',
  sets: ['cluster'],
  answers: 'it takes everything again',
  inject: async ({ http, awayMs }) => {
    http.inject({ fault: { kind: 'status', status: 429 } });
    await pause(awayMs / 2);
    await http.heal();
    http.inject({ fault: { kind: 'item_429', every: 3 } });
    await pause(awayMs / 2);
  },
  heal: ({ http }) => http.heal(),
};
