/** Search jobs behind a balancer: two servers on one state, as two processes have it. */
import t from 'tap';
import { createMemoryState } from '../../../../bench/memory-state.js';
import { viewsSearchRoutes } from '../../../../api/http/routes/search/views-search.js';
import type { Access } from '../../../../access/contract.js';
import { errorText } from '../../../../core/errors.js';
import { until } from '../../../program.js';
import { createMemorySearcher, document, type MemorySearcher } from './memory-searcher.js';
import { createWorld, fakeAccess, identity, people, type World } from '../world.js';

const documents = [
  document(Date.now() - 1_000, 'one', { streams: ['all-messages'] }),
  document(Date.now() - 2_000, 'two', { streams: ['system-logs'] }),
  document(Date.now() - 3_000, 'three', { streams: ['audit-logs'] }),
];
const query = {
  id: 'q',
  query: { query_string: '' },
  timerange: { type: 'relative', range: 300 },
  search_types: [{ id: 'm', type: 'messages', limit: 10 }],
};
const settings = {
  'store.kind': 'opensearch',
  'topics.kind': 'kafka',
  'topics.kafka.brokers': ['127.0.0.1:1'],
  'store.opensearch.nodes': ['http://127.0.0.1:1'],
};

interface Pair {
  readonly first: World;
  readonly second: World;
  readonly searchId: string;
}

async function createPair(
  t: Parameters<typeof createWorld>[0],
  searcher: Partial<MemorySearcher> = createMemorySearcher(documents),
  access: Access = fakeAccess,
): Promise<Pair> {
  const state = createMemoryState();
  const parts = { searcher, routes: [viewsSearchRoutes], settings, state, access };
  const [first, second] = [await createWorld(t, parts), await createWorld(t, parts)];
  const searchId = (await first.ask('POST', '/api/views/search', { as: 'alice', body: { queries: [query] } })).json()
    .id as string;
  return { first, second, searchId };
}

const execute = async (world: World, searchId: string, as: string, body: object = {}): Promise<string> =>
  (await world.ask('POST', `/api/views/search/${searchId}/execute`, { as, body })).json().id as string;
const status = (world: World, id: string, as: string) => world.ask('GET', `/api/views/search/status/${id}`, { as });
const done = (world: World, id: string, as: string) =>
  until(
    async () => {
      const answer = await status(world, id, as);
      return answer.statusCode !== 200 || answer.json<{ execution: { done: boolean } }>().execution.done
        ? answer
        : undefined;
    },
    60_000,
    () => 'the job does not end',
  );
const texts = (answer: { json(): unknown }): string[] =>
  (
    answer.json() as { results: { q: { search_types: { m: { messages: { message: { message: string } }[] } } } } }
  ).results.q.search_types.m.messages.map(({ message }) => message.message);

t.test('any process answers for a job, with the same moment and what it was asked', async (t) => {
  const { first, second, searchId } = await createPair(t);
  const id = await execute(first, searchId, 'alice', {
    global_override: { query: { type: 'elasticsearch', query_string: 'message:two' } },
  });
  const [here, there] = [await done(first, id, 'alice'), await done(second, id, 'alice')];
  t.same(texts(here), ['two']);
  t.same(texts(there), ['two']);
  const range = (answer: { json(): unknown }): unknown =>
    (answer.json() as { results: { q: { execution_stats: { effective_timerange: unknown } } } }).results.q
      .execution_stats.effective_timerange;
  t.same(range(here), range(there));
  t.match((await status(second, id, 'alice')).json(), { id, search_id: searchId, owner: 'alice' });
  t.equal((await status(second, 'f'.repeat(24), 'alice')).statusCode, 404);
  t.equal((await status(second, 'searches', 'alice')).statusCode, 404);
  t.equal((await first.ask('DELETE', `/api/views/search/cancel/${id}`, { as: 'alice' })).statusCode, 204);
});

t.test('each who asks sees by the own rights, and the job of somebody else stays theirs', async (t) => {
  let scope = people['alice']?.scope;
  const access: Access = {
    ...fakeAccess,
    authenticate: async (credentials, from) => {
      const known = await fakeAccess.authenticate(credentials, from);
      return known.username === 'alice' && scope !== undefined ? identity('alice', { ...known, scope }) : known;
    },
  };
  const { first, second, searchId } = await createPair(t, createMemorySearcher(documents), access);
  const id = await execute(first, searchId, 'alice');
  t.same(texts(await done(first, id, 'alice')), ['one', 'two']);
  t.same(texts(await done(second, id, 'admin')), ['one', 'two', 'three'], 'an administrator, who sees more');
  t.same(texts(await done(second, id, 'alice')), ['one', 'two'], 'what an administrator found is not shown to others');
  for (const world of [first, second]) t.equal((await status(world, id, 'operator')).statusCode, 403);
  t.equal((await second.ask('DELETE', `/api/views/search/cancel/${id}`, { as: 'operator' })).statusCode, 403);
  scope = { streams: ['system-logs'], except: [], deadLetters: false };
  for (const world of [second, first])
    t.same(texts(await done(world, id, 'alice')), ['two'], 'rights that have changed since');
});

t.test('a job is cancelled from any process', async (t) => {
  const causes: unknown[] = [];
  const searcher: Partial<MemorySearcher> = {
    messages: (_, { signal }) =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener(
          'abort',
          () => {
            causes.push(signal.reason);
            reject(new Error(`ended: ${errorText(signal.reason)}`));
          },
          { once: true },
        ),
      ),
  };
  const { first, second, searchId } = await createPair(t, searcher);
  const id = await execute(first, searchId, 'alice');
  t.equal((await status(second, id, 'alice')).json().execution.done, false);
  t.equal((await second.ask('DELETE', `/api/views/search/cancel/${id}`, { as: 'alice' })).statusCode, 204);
  for (const world of [second, first])
    t.match((await done(world, id, 'alice')).json(), { execution: { done: true, cancelled: true } });
  t.equal(causes.length, 2, 'in both');
  const other = await execute(first, searchId, 'alice');
  t.equal(
    (await second.ask('DELETE', `/api/views/search/cancel/${other}`, { as: 'alice' })).statusCode,
    204,
    'one that this process never ran',
  );
  t.match((await done(first, other, 'alice')).json(), { execution: { cancelled: true } });
});
