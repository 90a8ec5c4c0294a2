/** Searches by one request, tables for scripts, CSV, live tails, single messages. */
import t from 'tap';
import { createMemorySearcher, document } from './memory-searcher.js';
import { basic, createWorld, type World } from '../world.js';

const now = Date.now();
const documents = [
  document(now - 10_000, 'payment accepted', { container: 'pay', level: 6 }),
  document(now - 20_000, 'payment refused', { container: 'pay', level: 3 }),
  document(now - 30_000, '=HYPERLINK("http://x")', { container: 'shop', level: 6, note: 'a "quoted", text' }),
  document(now - 40_000, 'login', { streams: ['audit-logs'] }),
  document(now - 4_000_000, 'payment of long ago', { container: 'pay' }),
];

async function world(
  t: Parameters<typeof createWorld>[0],
  settings = {},
): Promise<World & { searcher: ReturnType<typeof createMemorySearcher> }> {
  const searcher = createMemorySearcher(documents);
  return { ...(await createWorld(t, { searcher, settings })), searcher };
}

t.test('one GET searches by a relative, an absolute or a keyword time range', async (t) => {
  const { ask } = await world(t);
  const found = await ask(
    'GET',
    '/api/search/universal/relative?query=payment&range=3600&limit=1&sort=timestamp:desc&fields=message,level',
    { as: 'operator' },
  );
  t.equal(found.statusCode, 200, found.body);
  t.match(found.json(), {
    query: 'payment',
    total_results: 2,
    used_indices: [],
    fields: ['level', 'message'],
    messages: [{ message: { message: 'payment accepted', level: 6, _id: 'm0' }, index: 'sluice_default_0' }],
    from: String,
    to: String,
    time: Number,
  });
  const total = async (path: string, as = 'operator'): Promise<unknown> => {
    const answer = await ask('GET', `/api/search/universal/${path}`, { as });
    return answer.statusCode === 200 ? answer.json().total_results : answer.statusCode;
  };
  t.equal(await total('relative?query=*&range=300'), 3);
  t.equal(await total('relative?query=*&range=0'), 4, 'everything');
  t.equal(await total('relative?range=300', 'admin'), 4);
  t.equal(await total('relative?range=300', 'reader'), 0);
  t.equal(await total('relative?query=*&range=300&filter=streams:000000000000000000000001'), 3);
  t.equal(await total('relative?query=*&range=300&filter=streams:audit-logs'), 403);
  t.equal(await total('relative?query=*&range=300&streams=no-such'), 403);
  t.equal(await total('relative?query=*'), 400, 'no range');
  t.equal(await total('relative?query=*&range=x'), 400);
  t.equal(await total('relative?query=a%20AND%20(&range=300'), 400);
  t.equal(await total('relative?query=*&range=300&sort=timestamp:sideways'), 400);
  t.equal(await total('relative?query=*&range=300&filter=level:3'), 400);
  t.equal(
    await total(`absolute?query=*&from=${new Date(now - 25_000).toISOString()}&to=${new Date(now).toISOString()}`),
    2,
  );
  t.equal(
    await total(
      `absolute?query=*&from=${new Date(now - 25_000).toISOString().replace('T', '%20').replace('Z', '')}&to=now`,
    ),
    2,
    'as Graylog writes times',
  );
  t.equal(await total('absolute?query=*&from=x&to=y'), 400);
  t.equal(await total('keyword?query=*&keyword=last%20five%20minutes'), 3);
  t.equal(await total('keyword?query=*&keyword=some%20day'), 400);
  t.equal(await total('keyword?query=*&keyword=today&timezone=Mars/Phobos'), 400);
});

t.test('scripts get tables as JSON, CSV or text', async (t) => {
  const { ask } = await world(t);
  const timerange = { type: 'relative', range: 3600 };
  t.match(
    (
      await ask('POST', '/api/search/messages', {
        as: 'operator',
        body: {
          query: 'payment',
          timerange,
          fields: ['message', 'level', 'none'],
          sort: 'timestamp',
          sort_order: 'ASC',
        },
      })
    ).json(),
    {
      schema: [{ column_type: 'field', field: 'message', name: 'field: message' }, {}, {}],
      datarows: [
        ['payment refused', 3, null],
        ['payment accepted', 6, null],
      ],
      metadata: { effective_timerange: { type: 'absolute' }, total_results: 2 },
    },
  );
  t.same(
    (
      await ask('GET', '/api/search/messages?query=payment&timerange=1h&fields=message&size=1', { as: 'operator' })
    ).json().datarows,
    [['payment accepted']],
  );
  const body = {
    query: '*',
    timerange,
    group_by: [{ field: 'container', limit: 5 }],
    metrics: [{ function: 'count' }, { function: 'avg', field: 'level', sort: 'asc' }],
  };
  const table = (await ask('POST', '/api/search/aggregate', { as: 'operator', body })).json();
  t.same(table.datarows, [
    ['pay', 2, 4.5],
    ['shop', 1, 6],
  ]);
  t.match(table.schema, [
    { column_type: 'grouping', field: 'container' },
    { column_type: 'metric', function: 'count', name: 'metric: count()' },
    { function: 'avg', field: 'level' },
  ]);
  t.equal(
    (await ask('POST', '/api/search/aggregate', { as: 'operator', body, headers: { accept: 'text/csv' } })).body,
    '"grouping: container","metric: count()","metric: avg(level)"\n"pay","2","4.5"\n"shop","1","6"\n',
  );
  t.match(
    (
      await ask('GET', '/api/search/aggregate?groups=container:1&metrics=count&timerange=1h', {
        as: 'operator',
        headers: { accept: 'text/plain' },
      })
    ).body,
    /^\+-+\+-+\+\n\| grouping: container \| metric: count\(\) \|\n/,
  );
  t.equal(
    (
      await ask('POST', '/api/search/aggregate', {
        as: 'operator',
        body: { ...body, metrics: [{ function: 'median' }] },
      })
    ).statusCode,
    400,
  );
  t.equal(
    (
      await ask('POST', '/api/search/aggregate', {
        as: 'operator',
        body: { ...body, group_by: [{ field: 'timestamp', granularity: 'x' }] },
      })
    ).statusCode,
    400,
  );
  t.equal(
    (
      await ask('POST', '/api/search/aggregate', {
        as: 'operator',
        body: { ...body, group_by: [{ field: 'timestamp', granularity: '1h' }] },
      })
    ).statusCode,
    200,
  );
});

t.test('an export is CSV in order, safe for spreadsheets, of what may be read', async (t) => {
  const { ask, recorded } = await world(t);
  const csv = async (body: object | undefined, as = 'operator') =>
    ask('POST', '/api/views/search/messages', {
      as,
      ...(body === undefined ? {} : { body }),
      headers: { accept: 'text/csv' },
    });
  const all = await csv({
    query_string: { query_string: '*' },
    timerange: { type: 'relative', range: 300 },
    fields_in_order: ['message', 'container', 'level', 'note', 'none'],
  });
  t.equal(all.statusCode, 200);
  t.match(all.headers['content-type'], /^text\/csv/);
  t.equal(
    all.body,
    '"message","container","level","note","none"\n"payment accepted","pay","6",,\n"payment refused","pay","3",,\n"\'=HYPERLINK(""http://x"")","shop","6","a ""quoted"", text",\n',
  );
  t.equal((await csv({ query_string: 'nothing' })).body, '', 'nothing found, nothing written');
  t.equal((await csv({})).body.split('\n').length, 5, 'an empty object is everything of the last five minutes');
  t.equal((await csv(undefined)).statusCode, 200);
  t.equal((await csv({ limit: 1, timerange: { type: 'relative', range: 300 } })).body.split('\n').length, 3);
  t.match((await csv({ limit: 1, time_zone: 'Asia/Kolkata', fields_in_order: ['timestamp'] })).body, /\+05:30"\n$/);
  t.equal((await csv({ time_zone: 'Mars/Phobos' })).statusCode, 400);
  t.equal((await csv({ streams: ['audit-logs'] })).statusCode, 403);
  t.equal((await csv({ query_string: 'a AND (' })).statusCode, 400, 'what is wrong is said before the first row');
  t.equal(
    (
      await ask('POST', '/api/views/search/messages', {
        as: 'operator',
        body: {},
        headers: { accept: 'application/xml' },
      })
    ).statusCode,
    406,
  );
  await ask('POST', '/api/views/search', {
    as: 'alice',
    body: {
      id: 'a'.repeat(24),
      queries: [
        {
          query: { query_string: 'container:pay' },
          timerange: { type: 'relative', range: 300 },
          search_types: [
            { id: 'list', type: 'messages', fields: ['message'], sort: [{ field: 'timestamp', order: 'ASC' }] },
          ],
        },
      ],
    },
  });
  t.equal(
    (await ask('POST', `/api/views/search/messages/${'a'.repeat(24)}`, { as: 'operator' })).body,
    '"message"\n"payment refused"\n"payment accepted"\n',
    'a saved search',
  );
  t.equal((await ask('POST', `/api/views/search/messages/${'a'.repeat(24)}/list`, { as: 'operator' })).statusCode, 200);
  t.equal(
    (await ask('POST', `/api/views/search/messages/${'a'.repeat(24)}/other`, { as: 'operator' })).statusCode,
    404,
  );
  t.equal((await ask('POST', `/api/views/search/messages/${'b'.repeat(24)}`, { as: 'operator' })).statusCode, 404);
  t.equal(
    (
      await ask('GET', '/api/search/universal/relative/export?query=payment&range=300&fields=message', {
        as: 'operator',
      })
    ).body,
    '"message"\n"payment accepted"\n"payment refused"\n',
  );
  t.ok(
    recorded.some(
      ({ fields }) =>
        fields?.['audit_action'] === 'search:export' &&
        fields['audit_outcome'] === 'success' &&
        String(fields['audit_details']).includes('"rows":3'),
    ),
    'recorded with the rows',
  );
});

t.test('an export ends when its client leaves, and can be cancelled', { timeout: 60_000 }, async (t) => {
  const searcher = createMemorySearcher(
    Array.from({ length: 20_000 }, (_, at) => document(now - at, `row ${at} ${'x'.repeat(200)}`)),
  );
  const { start, address, ask, recorded, services } = await createWorld(t, {
    searcher,
    settings: { 'api.max_exports': 1 },
  });
  await start();
  const url = `http://127.0.0.1:${address().port}/api/views/search/messages`;
  const leaving = new AbortController();
  const request = () =>
    fetch(url, {
      method: 'POST',
      headers: {
        authorization: basic('operator'),
        'x-requested-by': 'x',
        'content-type': 'application/json',
        'accept-encoding': 'identity',
      },
      body: '{"timerange":{"type":"relative","range":300}}',
      signal: leaving.signal,
    });
  const first = await request();
  const reader = first.body?.getReader();
  t.ok((await reader?.read())?.value);
  t.equal((await request()).status, 429, 'one at a time');
  const { exports } = (await ask('GET', '/api/exports', { as: 'operator' })).json();
  t.match(exports, [{ owner: 'operator', rows: Number, query: '' }]);
  t.same((await ask('GET', '/api/exports', { as: 'alice' })).json(), { exports: [] }, 'of somebody else');
  t.equal((await ask('DELETE', `/api/exports/${exports[0].id}`, { as: 'alice' })).statusCode, 404);
  leaving.abort();
  while (searcher.ended() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass('reading ends with the client');
  while (!recorded.some(({ text }) => text.startsWith('audit: operator search:export') && text.endsWith('aborted')))
    await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(
    await (
      services.registry.getSingleMetric('sluice_api_exports') as unknown as {
        get(): Promise<{ values: { value: number }[] }>;
      }
    )
      .get()
      .then(({ values }) => values[0]?.value),
    0,
  );
});

t.test('a live tail sends messages as events until the client leaves', { timeout: 60_000 }, async (t) => {
  const { start, address, searcher, ask } = await world(t, { 'api.max_tails': 1 });
  await start();
  const leaving = new AbortController();
  const tail = (query: string) =>
    fetch(`http://127.0.0.1:${address().port}/api/search/tail?${query}`, {
      headers: { authorization: basic('operator'), accept: 'text/event-stream' },
      signal: leaving.signal,
    });
  const answer = await tail('query=payment');
  t.match(answer.headers.get('content-type'), /^text\/event-stream/);
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  const reader = answer.body?.getReader();
  let text = '';
  while (text.split('event: message').length < 4)
    text += Buffer.from((await reader?.read())?.value ?? new Uint8Array()).toString();
  t.match(text, /^retry: 3000\n\n.*data: \{"message":\{.*payment of long ago.*payment refused.*payment accepted/s);
  t.equal((await tail('query=payment')).status, 429, 'one at a time');
  t.equal((await ask('GET', '/api/search/tail?query=a%20AND%20(', { as: 'operator' })).statusCode, 400);
  leaving.abort();
  while (searcher.ended() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass('ended with the client');
});

t.test('one message and the names of fields', async (t) => {
  const { ask } = await world(t);
  t.match((await ask('GET', '/api/messages/sluice_default_0/m0', { as: 'operator' })).json(), {
    message: { message: 'payment accepted', _id: 'm0' },
    index: 'sluice_default_0',
  });
  t.equal(
    (await ask('GET', '/api/messages/sluice_default_0/m3', { as: 'operator' })).statusCode,
    404,
    'one that may not be read is not there',
  );
  t.equal((await ask('GET', '/api/messages/sluice_default_0/m3', { as: 'admin' })).statusCode, 200);
  t.equal((await ask('GET', '/api/messages/none/m0', { as: 'admin' })).statusCode, 404);
  t.same((await ask('GET', '/api/system/fields', { as: 'reader' })).json(), {
    fields: ['level', 'message', 'source', 'timestamp'],
  });
  t.match((await ask('GET', '/api/views/fields', { as: 'reader' })).json(), [
    { name: 'level', type: { type: 'double' } },
    { name: 'message', type: { type: 'string', properties: ['full-text-search'] } },
    {},
    {},
  ]);
});
