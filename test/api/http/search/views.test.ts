/** Searches and views as stored objects: created, changed, bounded, deleted. */
import t from 'tap';
import { createViewsWorld as world, search, searchId, view, viewId } from './views-world.js';

t.test('a search is created with the id of the client, again by its owner, and never by somebody else', async (t) => {
  const { ask } = await world(t);
  const created = await ask('POST', '/api/views/search', { as: 'alice', body: search });
  t.equal(created.statusCode, 201);
  t.match(created.json(), {
    id: searchId,
    owner: 'alice',
    queries: [{ id: 'q1', query: { query_string: 'container:pay' }, search_types: [] }],
    parameters: [],
  });
  t.equal((await ask('POST', '/api/views/search', { as: 'alice', body: search })).statusCode, 201, 'the same id again');
  t.equal(
    (await ask('POST', '/api/views/search', { as: 'operator', body: search })).statusCode,
    403,
    'of somebody else',
  );
  t.equal(
    (await ask('POST', '/api/views/search', { as: 'admin', body: search })).statusCode,
    201,
    'by an administrator',
  );
  t.equal(
    (await ask('GET', `/api/views/search/${searchId}`, { as: 'reader' })).json().owner,
    'alice',
    'who still owns it',
  );
  const own = (
    await ask('POST', '/api/views/search', { as: 'alice', body: { queries: [{ query: { query_string: '*' } }] } })
  ).json();
  t.match(own.id, /^[0-9a-f]{24}$/, 'an id is given where none came');
  t.match(own.queries[0].id, /./);
  for (const [what, body] of [
    ['short', { ...search, id: 'abc' }],
    ['not hexadecimal', { ...search, id: 'x'.repeat(24) }],
    ['a number', { ...search, id: 5 }],
    ['queries that are none', { id: searchId, queries: 'x' }],
    ['a range in words', { queries: [{ timerange: { type: 'relative', range: 'x' } }] }],
  ] as const) {
    t.equal((await ask('POST', '/api/views/search', { as: 'alice', body })).statusCode, 400, what);
  }
  t.equal((await ask('POST', '/api/views/search', { as: 'alice', body: {} })).statusCode, 201, 'no queries at all');
  t.equal((await ask('GET', '/api/views/search/aaaaaaaaaaaaaaaaaaaaaaaa', { as: 'alice' })).statusCode, 404);
  t.equal((await ask('GET', '/api/views/search/zz', { as: 'alice' })).statusCode, 400);
});

t.test('a view comes flat or wrapped, needs its search, and is changed by its owner or an administrator', async (t) => {
  const { ask, recorded } = await world(t);
  t.match(await ask('POST', '/api/views', { as: 'alice', body: view }), { statusCode: 400 }, 'the search is not there');
  t.match((await ask('POST', '/api/views', { as: 'alice', body: view })).json(), {
    type: 'ApiError',
    message: `Search ${searchId} not available`,
  });
  await ask('POST', '/api/views/search', { as: 'alice', body: search });
  const created = await ask('POST', '/api/views', { as: 'alice', body: view });
  t.equal(created.statusCode, 200);
  t.match(created.json(), { ...view, owner: 'alice', state: {}, properties: [] });
  t.notOk('owner_id' in created.json());
  t.equal(
    (
      await ask('POST', '/api/views', {
        as: 'alice',
        body: { entity: { ...view, title: 'Again' }, share_request: null },
      })
    ).json().title,
    'Again',
    'wrapped, and the same id again',
  );
  t.equal((await ask('POST', '/api/views', { as: 'operator', body: view })).statusCode, 403);
  t.equal((await ask('PUT', `/api/views/${viewId}`, { as: 'operator', body: view })).statusCode, 403);
  t.equal((await ask('DELETE', `/api/views/${viewId}`, { as: 'operator' })).statusCode, 403);
  t.equal((await ask('POST', '/api/views', { as: 'reader', body: view })).statusCode, 403, 'without views:edit');
  const changed = await ask('PUT', `/api/views/${viewId}`, {
    as: 'admin',
    body: { ...view, title: 'Payments of today', state: { q1: { widgets: [] } } },
  });
  t.match(changed.json(), { owner: 'alice', title: 'Payments of today', state: { q1: { widgets: [] } } });
  t.equal((await ask('PUT', '/api/views/aaaaaaaaaaaaaaaaaaaaaaaa', { as: 'admin', body: view })).statusCode, 404);
  t.match((await ask('POST', '/api/views', { as: 'alice', body: { type: 'SEARCH' } })).json(), {
    type: 'ValidationApiError',
    validation_errors: { title: [{ error: String }], search_id: [{ error: String }] },
  });
  t.match((await ask('GET', '/api/views', { as: 'reader' })).json(), {
    total: 1,
    count: 1,
    page: 1,
    per_page: 50,
    views: [{ id: viewId }],
  });
  t.equal((await ask('GET', '/api/search/saved?query=today', { as: 'reader' })).json().elements.length, 1);
  t.equal((await ask('GET', '/api/search/saved?query=nothing', { as: 'reader' })).json().total, 0);
  t.equal((await ask('GET', '/api/dashboards', { as: 'reader' })).json().total, 0);
  t.equal((await ask('GET', `/api/views/${viewId}`, { as: 'reader' })).statusCode, 200);
  t.equal((await ask('DELETE', `/api/views/${viewId}`, { as: 'alice' })).json().id, viewId);
  t.equal((await ask('DELETE', `/api/views/${viewId}`, { as: 'alice' })).statusCode, 404);
  t.equal((await ask('DELETE', '/api/views/zz', { as: 'alice' })).statusCode, 400);
  const texts = recorded.map(({ text }) => text);
  t.ok(
    texts.some((text) => text === `audit: alice view:create view=${viewId} Payments success`),
    texts.join('\n'),
  );
  t.ok(texts.some((text) => text === `audit: operator view:delete id=${viewId} denied`));
});

t.test('searches and views are bounded: the oldest searches without a view go, views are refused', async (t) => {
  const { ask, services } = await world(t, { 'api.max_searches': 20, 'api.max_views': 2 });
  await ask('POST', '/api/views/search', { as: 'alice', body: search });
  await ask('POST', '/api/views', { as: 'alice', body: view });
  for (let count = 0; count < 60; count += 1)
    t.equal((await ask('POST', '/api/views/search', { as: 'alice', body: {} })).statusCode, 201);
  const kept = await services.state.list('searches/');
  t.ok(kept.length <= 22, `${kept.length} are kept`);
  t.ok(
    kept.some(({ key }) => key === `searches/${searchId}`),
    'the one of the view is',
  );
  t.equal((await ask('POST', '/api/views', { as: 'alice', body: { ...view, id: undefined } })).statusCode, 200);
  t.equal((await ask('POST', '/api/views', { as: 'alice', body: { ...view, id: undefined } })).statusCode, 403);
  t.equal(
    (await ask('POST', '/api/views', { as: 'alice', body: view })).statusCode,
    200,
    'one that is there may be changed',
  );
  t.equal(
    (
      await ask('POST', '/api/views/search', {
        as: 'alice',
        body: {
          queries: [
            { query: { query_string: 'x'.repeat(30_000) } },
            ...Array.from({ length: 40 }, () => ({ query: { query_string: 'y'.repeat(30_000) } })),
          ],
        },
      })
    ).statusCode,
    413,
  );
});

t.test('members that are null count as not given, in a search, its parts and a view', async (t) => {
  const { ask } = await world(t);
  t.equal(
    (
      await ask('POST', '/api/views/search', {
        as: 'alice',
        body: {
          ...search,
          parameters: null,
          queries: [{ id: 'q1', query: null, timerange: null, filter: null, filters: null, search_types: null }],
        },
      })
    ).statusCode,
    201,
  );
  t.equal(
    (
      await ask('POST', '/api/views/search', {
        as: 'alice',
        body: {
          id: null,
          queries: [{ search_types: [{ type: 'messages', limit: null, sort: null, fields: null, filters: null }] }],
        },
      })
    ).statusCode,
    201,
  );
  const made = await ask('POST', '/api/views', { as: 'alice', body: { ...view, state: null, properties: null } });
  t.match(made.json(), { id: viewId, state: {}, properties: [] });
  t.equal(
    (
      await ask('PUT', `/api/views/${viewId}`, {
        as: 'alice',
        body: { entity: { ...view, id: null, state: { q1: { selected: null } } } },
      })
    ).json().state.q1.selected,
    null,
    'what is within stays',
  );
  t.match((await ask('POST', '/api/views', { as: 'alice', body: { ...view, title: null } })).json(), {
    type: 'ValidationApiError',
  });
});
