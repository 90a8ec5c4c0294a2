/** What running a search answers, and what it refuses. */
import t from 'tap';
import { createViewsWorld as world, now, search, searchId } from './views-world.js';

const types = [
  { id: 'list', type: 'messages', limit: 2, sort: [{ field: 'timestamp', order: 'DESC' }] },
  {
    id: 'chart',
    type: 'pivot',
    row_groups: [{ type: 'time', fields: ['timestamp'], interval: { type: 'auto' } }],
    series: [{ type: 'count', id: 'count()' }],
    rollup: true,
  },
  {
    id: 'table',
    type: 'pivot',
    row_groups: [{ type: 'values', fields: ['container'], limit: 10 }],
    column_groups: [{ type: 'values', field: 'level' }],
    series: [
      { type: 'count', id: 'n' },
      { type: 'avg', field: 'level' },
    ],
    rollup: true,
  },
];

t.test('what a search asks for is done, or refused with its place', async (t) => {
  const { ask } = await world(t);
  const timerange = { type: 'relative', range: 300 };
  const run = async (type: object, query: object = {}) =>
    (
      await ask('POST', '/api/views/search/sync', {
        as: 'operator',
        body: {
          queries: [
            {
              id: 'q',
              query: { query_string: '' },
              timerange,
              search_types: [{ id: 'list', type: 'messages', ...type }],
              ...query,
            },
          ],
        },
      })
    ).json().results.q;
  const texts = async (type: object, query?: object): Promise<readonly string[]> =>
    ((await run(type, query)).search_types.list?.messages ?? []).map(
      ({ message }: { readonly message: { readonly message: string } }) => message.message,
    );
  const oldestFirst = ['order lost', 'order made', 'payment refused', 'payment accepted', 'disk'];
  for (const order of ['ASC', 'asc', 'Ascending'])
    t.same(await texts({ sort: [{ field: 'timestamp', order }] }), oldestFirst, order);
  for (const sort of [[{ field: 'timestamp', order: 'DESC' }], [{ field: 'timestamp' }], [], null])
    t.same(await texts({ sort }), [...oldestFirst].reverse());
  for (const [sort, place] of [
    [[{ field: 'level', order: 'sideways' }], /^sort\[0\]\.order: .*sideways.*ASC, DESC/],
    [[{ field: 'level' }, { field: 'n' }], /^sort: .*2 of them/],
    [[{ order: 'ASC' }], /^sort\[0\]\.field/],
  ] as const) {
    t.match(await run({ sort }), { state: 'FAILED', errors: [{ description: place }] });
  }
  t.same(
    await texts(
      {},
      {
        filters: [
          { type: 'inlineQueryString', queryString: 'container:pay' },
          { type: 'inlineQueryString', queryString: 'level:3', negation: true },
        ],
      },
    ),
    ['payment accepted'],
  );
  t.same(
    await texts({
      filters: [
        { type: 'inlineQueryString', queryString: 'container:pay', disabled: true },
        { type: 'inlineQueryString', queryString: 'order' },
      ],
    }),
    ['order made', 'order lost'],
  );
  t.match(await run({}, { filters: [{ type: 'referenced', id: 'x' }] }), {
    state: 'FAILED',
    errors: [{ description: /^filters\[0\]\.type: .*referenced.*inlineQueryString/ }],
  });
  t.match(await run({ ...types[1], sort: [{ type: 'pivot' }, { type: 'pivot' }] }), {
    state: 'FAILED',
    errors: [{ description: /one key/ }],
  });
  t.equal(
    (await ask('POST', '/api/views/search', { as: 'alice', body: { ...search, parameters: [{ name: 'u' }] } }))
      .statusCode,
    400,
    'there are no parameters',
  );

  const lists = ['a', 'b'].map((id) => ({
    id,
    type: 'messages',
    limit: 4,
    sort: [{ field: 'timestamp', order: 'ASC' }],
  }));
  await ask('POST', '/api/views/search', {
    as: 'operator',
    body: { id: searchId, queries: [{ id: 'q', query: { query_string: '' }, timerange, search_types: lists }] },
  });
  const execute = (global_override: object, more: object = {}) =>
    ask('POST', `/api/views/search/${searchId}/execute`, { as: 'operator', body: { global_override, ...more } });
  const { id } = (
    await execute({
      limit: 3,
      search_types: {
        a: { limit: 1, offset: 3, filters: [{ type: 'inlineQueryString', queryString: 'payment OR order' }] },
      },
    })
  ).json();
  let status = await ask('GET', `/api/views/search/status/${id}`, { as: 'operator' });
  while (!status.json().execution.done) status = await ask('GET', `/api/views/search/status/${id}`, { as: 'operator' });
  const shownOf = (list: string): readonly string[] =>
    status
      .json()
      .results.q.search_types[list].messages.map(
        ({ message }: { readonly message: { readonly message: string } }) => message.message,
      );
  t.same([shownOf('a'), shownOf('b')], [['payment accepted'], oldestFirst.slice(0, 3)]);
  t.equal((await execute({ search_types: { a: { limits: 1 } } })).statusCode, 400);
  t.equal((await execute({}, { parameter_bindings: { u: { type: 'value', value: 'x' } } })).statusCode, 400);
});

t.test('a search that is run answers message lists and pivots under its job', async (t) => {
  const { ask } = await world(t);
  const body = { ...search, queries: [{ ...search.queries[0], query: { query_string: '' }, search_types: types }] };
  await ask('POST', '/api/views/search', { as: 'operator', body });
  const started = await ask('POST', `/api/views/search/${searchId}/execute`, {
    as: 'operator',
    body: { parameter_bindings: {} },
  });
  t.equal(started.statusCode, 201);
  const { id } = started.json();
  t.equal(started.headers['location'], `views/search/status/${id}`);
  let status = await ask('GET', `/api/views/search/status/${id}`, { as: 'operator' });
  while (!status.json().execution.done) status = await ask('GET', `/api/views/search/status/${id}`, { as: 'operator' });
  const { results, execution } = status.json();
  t.same(execution, { done: true, cancelled: false, completed_exceptionally: false });
  const { list, chart, table } = results.q1.search_types;
  t.equal(results.q1.state, 'COMPLETED');
  t.equal(list.total_results, 5);
  t.same(
    list.messages.map(({ message }: { message: Record<string, unknown> }) => message['message']),
    ['disk', 'payment accepted'],
  );
  t.match(list.messages[0], {
    index: 'sluice_default_0',
    message: { _id: 'm6', streams: [/^[0-9a-f]{24}$/, '000000000000000000000001'] },
    highlight_ranges: {},
    decoration_stats: null,
  });
  t.equal(chart.total, 5);
  t.equal(
    chart.rows.reduce(
      (sum: number, { source, values }: { source: string; values: { value: number }[] }) =>
        sum + (source === 'leaf' ? (values[0]?.value ?? 0) : 0),
      0,
    ),
    5,
  );
  t.match(chart.rows[0].key[0], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  t.match(chart.rows.at(-1), {
    key: [],
    source: 'non-leaf',
    values: [{ key: ['count()'], value: 5, rollup: true, source: 'row-inner' }],
  });
  const pay = table.rows.find(({ key }: { key: string[] }) => key[0] === 'pay');
  t.match(
    pay.values,
    [
      { key: [String, 'n'], value: 1, rollup: false, source: 'col-leaf' },
      {},
      {},
      {},
      { key: ['n'], value: 2, rollup: true, source: 'row-leaf' },
      { key: ['avg(level)'], value: 4.5 },
    ].map((one) => (one.key?.[0] === String ? { ...one, key: [Number, 'n'] } : one)),
  );
  t.equal(
    (await ask('GET', `/api/views/search/status/${id}`, { as: 'alice' })).statusCode,
    403,
    'the job of somebody else',
  );
  t.equal((await ask('GET', '/api/views/search/status/none', { as: 'alice' })).statusCode, 404);
  t.equal((await ask('DELETE', `/api/views/search/cancel/${id}`, { as: 'operator' })).statusCode, 204);
});

t.test('what is run may be overridden, held to streams, and goes wrong by parts', async (t) => {
  const { ask } = await world(t);
  const sync = async (as: string, query: object, type: object = { id: 'a', type: 'messages' }) => {
    const answer = await ask('POST', '/api/views/search/sync', {
      as,
      body: {
        queries: [
          {
            id: 'q',
            query: { query_string: '' },
            timerange: { type: 'relative', range: 300 },
            search_types: [{ id: 'a', ...type }],
            ...query,
          },
        ],
      },
    });
    t.equal(answer.statusCode, 200, answer.body);
    return answer.json().results.q;
  };
  t.equal((await sync('admin', {})).search_types.a.total_results, 6);
  t.equal((await sync('operator', {})).search_types.a.total_results, 5, 'without Audit logs');
  t.equal((await sync('reader', {})).search_types.a.total_results, 0);
  t.equal(
    (await sync('admin', { filter: { type: 'or', filters: [{ type: 'stream', id: 'audit-logs' }] } })).search_types.a
      .total_results,
    1,
  );
  t.equal(
    (
      await sync('admin', {
        filter: {
          type: 'and',
          filters: [
            { type: 'stream', id: '000000000000000000000001' },
            { type: 'query_string', query: 'container:pay' },
          ],
        },
      })
    ).search_types.a.total_results,
    2,
  );
  t.match((await sync('operator', { streams: ['audit-logs'] })).errors, [
    { description: /cannot be read/, search_type_id: 'a' },
  ]);
  t.match(
    (await sync('operator', { streams: ['no-such'] })).errors,
    [{ description: /cannot be read/ }],
    'as one that is not there',
  );
  t.match(await sync('admin', { query: { query_string: 'a AND (' } }), {
    state: 'FAILED',
    errors: [{ query_id: 'q', search_type_id: 'a', description: /character/ }],
    search_types: {},
  });
  t.equal(
    (await sync('admin', { timerange: { type: 'relative', range: 0 } })).search_types.a.total_results,
    7,
    'everything',
  );
  t.equal(
    (
      await sync('admin', {
        timerange: {
          type: 'absolute',
          from: new Date(now - 35_000).toISOString(),
          to: new Date(now - 15_000).toISOString(),
        },
      })
    ).search_types.a.total_results,
    2,
  );
  t.equal(
    (await sync('admin', { timerange: { type: 'keyword', keyword: 'last 2 hours' } })).search_types.a.total_results,
    7,
  );
  t.match((await sync('admin', { timerange: { type: 'keyword', keyword: 'some time' } })).errors, [
    { description: /timerange.keyword/ },
  ]);
  t.match((await sync('admin', {}, { type: 'strange' })).errors, [{ description: /search type strange/ }]);
  t.match((await sync('admin', {}, { type: 'pivot', series: [{ type: 'median', field: 'x' }] })).errors, [
    { description: /Allowed: avg/ },
  ]);
  t.equal((await sync('admin', {}, { type: 'messages', limit: 1, offset: 5 })).search_types.a.messages.length, 1);
});

t.test('a query text is checked with the place of what is wrong', async (t) => {
  const { ask } = await world(t);
  const check = async (body: object) => (await ask('POST', '/api/search/validate', { as: 'reader', body })).json();
  t.match(await check({ query: 'source:pay AND level:[3 TO 6]' }), { status: 'OK', explanations: [] });
  t.match(await check({ query: { type: 'elasticsearch', query_string: '*' } }), { status: 'OK' });
  t.match(await check({}), { status: 'OK' });
  t.match(await check({ query: 'a AND\n(b' }), {
    status: 'ERROR',
    explanations: [{ error_type: 'QUERY_PARSING_ERROR', begin_line: 2, begin_column: Number, error_message: String }],
  });
  t.match(await check({ query: 'a', timerange: { type: 'absolute', from: 'x', to: 'y' } }), {
    status: 'ERROR',
    explanations: [{ related_property: 'timerange' }],
  });
  t.match(
    await check({ query: 'nofield:x AND (' }),
    { status: 'ERROR', explanations: [{ error_type: 'QUERY_PARSING_ERROR' }] },
    'a text that cannot be read is not warned of',
  );
});
