/** The API over seven documents in memory, with a search and a view to create. */
import { createMemorySearcher, document } from './memory-searcher.js';
import { createWorld, type World } from '../world.js';

export const now = Date.now();
const documents = [
  document(now - 10_000, 'payment accepted', { container: 'pay', level: 6 }),
  document(now - 20_000, 'payment refused', { container: 'pay', level: 3 }),
  document(now - 30_000, 'order made', { container: 'shop', level: 6 }),
  document(now - 40_000, 'order lost', { container: 'shop', level: 3 }),
  document(now - 4_000_000, 'payment of long ago', { container: 'pay' }),
  document(now - 5_000, 'login', { streams: ['audit-logs'] }),
  document(now - 5_000, 'disk', { streams: ['system-logs', 'all-messages'] }),
];
/** The API over these documents. */
export const createViewsWorld = (t: Parameters<typeof createWorld>[0], settings = {}): Promise<World> =>
  createWorld(t, { searcher: createMemorySearcher(documents), settings });

export const searchId = '5e1f6a2b3c4d5e6f7a8b9c0d';
export const viewId = '6e1f6a2b3c4d5e6f7a8b9c0d';
export const search = {
  id: searchId,
  queries: [
    {
      id: 'q1',
      timerange: { type: 'relative', range: 300 },
      query: { type: 'elasticsearch', query_string: 'container:pay' },
    },
  ],
};
export const view = {
  id: viewId,
  type: 'SEARCH',
  title: 'Payments',
  summary: '',
  description: '',
  search_id: searchId,
};
