/**
 * The total of a range of time comes in an answer of its own: what that answer lacks is said as what the other one
 * lacks.
 */
import t from 'tap';
import type { SearchRequest } from '../../../../schemas/query.js';
import { search } from '../../../../sinks/stores/opensearch/queries/search.js';
import type { Send } from '../../../../sinks/stores/opensearch/requests.js';

const request: SearchRequest = { indices: ['logs_0'], query: { kind: 'all' }, from: 0, limit: 2, partial: true };
const shards = (reason?: string): object => ({
  failures: reason === undefined ? [] : [{ index: 'logs_0', reason: { type: 'shard', reason } }],
});

/** An engine that answers the count with `counted`. */
const engine =
  (counted: object): Send =>
  async ({ body }) => {
    const isCount = (body as { readonly size?: number }).size === 0;
    const hits = [{ _id: 'a', _index: 'logs_0', _source: { message: 'one' }, sort: [1, 'a', 'logs_0'] }];
    return { status: 200, body: isCount ? counted : { hits: { hits }, _shards: shards() } };
  };

t.test('the total is that of the count, and no less than what is found', async (t) => {
  t.match(await search(engine({ hits: { total: { value: 70 }, hits: [] }, _shards: shards() }), request, 1_000), {
    total: 70,
    hits: [{ _id: 'a' }],
    failures: undefined,
  });
  t.match(
    await search(engine({ hits: { total: { value: 0 }, hits: [] }, _shards: shards() }), request, 1_000),
    { total: 1 },
    'a message that became searchable between the two',
  );
});

t.test('a shard that fails in the count alone is named', async (t) => {
  const { total, failures } = await search(
    engine({ hits: { total: { value: 5 }, hits: [] }, _shards: shards('out of time') }),
    request,
    1_000,
  );
  t.equal(total, 5);
  t.same(failures, [{ index: 'logs_0', reason: 'shard: out of time' }]);
});
