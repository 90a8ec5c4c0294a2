/** Index sets and their indices: made, changed, rotated, measured, deleted. */
import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { until } from '../../../../definitions/rig.js';
import { expectStatuses } from '../running.js';
import { startResources } from '../resources.js';

const world = await startResources(t);
const { told, sluice } = world;

t.test('an index set: made with its first index, changed, rotated, measured, deleted with its indices', async (t) => {
  const base = '/api/system/indices/index_sets';
  const made = await told('POST', base, {
    body: {
      title: 'Shop',
      index_prefix: 'shop',
      shards: 1,
      replicas: 0,
      rotation_strategy_class: 'a.b.MessageCountRotationStrategy',
      rotation_strategy: { type: 'a.b.MessageCountRotationStrategyConfig', max_docs_per_index: 1000 },
      retention_strategy_class: 'a.b.DeletionRetentionStrategy',
      retention_strategy: { max_number_of_indices: 3 },
    },
  });
  t.match(made, {
    status: 200,
    body: {
      id: apiIdOf('shop'),
      name: 'shop',
      index_prefix: 'shop',
      rotation_strategy: { type: 'count', max_docs_per_index: 1000 },
      retention_strategy: { type: 'delete', max_number_of_indices: 3 },
      origin: 'api',
    },
  });
  t.match(await told('GET', `${base}/shop/stats`), { status: 200, body: { indices: 1, documents: 0 } });
  t.equal((await world.ask('POST', `/api/system/deflector/${apiIdOf('shop')}/cycle`)).statusCode, 204);
  const indices = (await told('GET', '/api/system/indexer/indices/open')).body['indices'] as Record<
    string,
    Record<string, unknown>
  >;
  t.match(
    [indices['shop_0'], indices['shop_1']],
    [
      { current: false, state: 'open' },
      { current: true, state: 'open', index_set: 'shop' },
    ],
  );
  t.match(await told('PUT', `${base}/shop`, { body: { rotation_strategy: { max_size: '2 GB' } } }), {
    status: 200,
    body: { rotation_strategy: { type: 'size', max_size: 2e9 }, retention_strategy: { max_number_of_indices: 3 } },
  });
  t.match(
    await told('PUT', `${base}/sluice_audit`, {
      body: { retention_strategy: { type: 'close', max_number_of_indices: 9 } },
    }),
    {
      status: 200,
      body: { origin: 'shipped', retention_strategy: { type: 'close' }, rotation_strategy: { max_size: 5e9 } },
    },
  );
  t.equal(sluice.rules()?.indexSets.find(({ id }) => id === 'sluice_audit')?.retention.max_indices, 9, 'in force');

  t.equal((await world.ask('POST', '/api/system/indexer/indices/shop_0/close')).statusCode, 204);
  await until(async () => {
    await sluice.processor?.indexSets.checkRetention();
    return ((await told('GET', '/api/system/indexer/indices/closed')).body['total'] as number) === 1;
  });
  t.equal((await world.ask('POST', '/api/system/indexer/indices/shop_0/reopen')).statusCode, 204);
  t.match((await told('GET', '/api/system/indexer/indices/reopened')).body, {
    total: 1,
    indices: { shop_0: { state: 'open', reopened: true } },
  });

  t.match((await told('PUT', `${base}/shop`, { body: { description: 'Orders and payments.' } })).body, {
    description: 'Orders and payments.',
    rotation_strategy: { max_size: 2e9 },
  });
  t.match(
    (await told('PUT', `${base}/shop`, { body: { title: 'Shop' } })).body,
    { description: 'Orders and payments.' },
    'what is not given stays',
  );
  t.match((await told('GET', `${base}/shop`)).body, { description: 'Orders and payments.' });
  t.match((await told('PUT', `${base}/shop`, { body: { description: null } })).body, { description: '' });
  t.match((await told('GET', `${base}/filed`)).body, { description: 'Of the file.' });
  t.match((await told('GET', `${base}/sluice_default`)).body, { description: '' });
  t.same(
    Object.keys(
      (await told('POST', base, { body: { index_prefix: 'UPPER', description: 'x' } })).body[
        'validation_errors'
      ] as object,
    ),
    ['index_prefix'],
  );
  await expectStatuses(t, world, [
    ['admin', 'POST', base, 409, { index_prefix: 'shop' }],
    ['admin', 'POST', base, 400, { title: 'x' }],
    ['admin', 'POST', base, 400, { index_prefix: 'shop_eu' }],
    ['admin', 'POST', base, 400, { index_prefix: 'UPPER' }],
    ['admin', 'POST', base, 400, { index_prefix: 'other', rotation_strategy: { rotation_period: 'tomorrow' } }],
    ['admin', 'POST', base, 400, { index_prefix: 'other', rotation_strategy: { type: 'moon' } }],
    ['admin', 'POST', base, 400, { index_prefix: 'other', rotation_strategy: { max_docs_per_index: 0 } }],
    ['admin', 'PUT', `${base}/shop`, 400, { index_prefix: 'another' }],
    ['admin', 'PUT', `${base}/filed`, 409, { title: 'x' }],
    ['admin', 'DELETE', `${base}/sluice_default`, 409],
    ['admin', 'GET', `${base}/nothing`, 404],
    ['admin', 'GET', `${base}/${apiIdOf('shop')}`, 200],
    ['operator', 'GET', `${base}?stats=true&limit=2&skip=1`, 200],
    ['operator', 'GET', `${base}/stats`, 200],
    ['operator', 'POST', base, 403, { index_prefix: 'mine' }],
    ['operator', 'PUT', `${base}/shop`, 403, {}],
    ['operator', 'DELETE', `${base}/shop`, 403],
    ['operator', 'POST', '/api/system/deflector/shop/cycle', 403],
    ['reader', 'GET', base, 403],
    ['', 'GET', base, 401],
    ['admin', 'POST', '/api/system/indexer/indices/shop_1/close', 403],
    ['admin', 'DELETE', '/api/system/indexer/indices/nothing_0', 404],
    ['operator', 'DELETE', '/api/system/indexer/indices/shop_0', 403],
    ['admin', 'POST', '/api/streams', 201, { title: 'In shop', index_set_id: 'shop' }],
    ['admin', 'DELETE', `${base}/shop`, 400],
    ['admin', 'DELETE', '/api/streams/in-shop', 204],
    ['admin', 'DELETE', `${base}/shop`, 204],
    ['admin', 'GET', `${base}/shop`, 404],
    ['operator', 'GET', '/api/system/indexer/cluster/health', 200],
    ['operator', 'GET', '/api/system/indexer/cluster/name', 200],
    ['operator', 'GET', '/api/system/indexer/indices', 200],
    ['reader', 'GET', '/api/system/indexer/indices', 403],
    ['operator', 'GET', '/api/system/indexer/failures', 403],
    ['admin', 'GET', '/api/system/indexer/failures', 200],
    ['admin', 'GET', '/api/system/indexer/failures/count?since=2026-01-01T00:00:00Z', 200],
    ['admin', 'GET', '/api/system/indexer/failures/count?since=never', 400],
  ]);
  t.match(await told('GET', '/api/system/indexer/cluster/health'), { body: { status: 'green' } });
  await until(async () => {
    await sluice.processor?.indexSets.checkRetention();
    return (await sluice.store?.indices.list('shop'))?.length === 0;
  });
});
