/**
 * Schemas are compiled when they are first needed: here all of them are. And no request that fits the description, or
 * nearly does, is answered with a fault of ours.
 */
import fc from 'fast-check';
import t from 'tap';
import type { FastifySchema } from 'fastify';
import type { ApiRoutes } from '../../../../api/http/services.js';
import { apiRoutes } from '../../../../api/http/routes.js';
import { exportRoutes } from '../../../../api/http/routes/search/export.js';
import { messageRoutes } from '../../../../api/http/routes/search/messages.js';
import { scriptingRoutes } from '../../../../api/http/routes/search/scripting.js';
import { searchValidateRoutes } from '../../../../api/http/routes/search/search-validate.js';
import { universalRoutes } from '../../../../api/http/routes/search/universal.js';
import { viewsSearchRoutes } from '../../../../api/http/routes/search/views-search.js';
import { viewsRoutes } from '../../../../api/http/routes/search/views.js';
import { createSerializerCompiler, createValidatorCompiler } from '../../../../api/http/validation.js';
import { createMemorySearcher, document } from '../search/memory-searcher.js';
import { createWorld } from '../world.js';

t.test('every schema of every route can be compiled', async (t) => {
  const schemas: { readonly name: string; readonly schema: FastifySchema }[] = [];
  const collect: ApiRoutes = (app) =>
    void app.addHook(
      'onRoute',
      ({ method, url, schema }) =>
        void (schema !== undefined && schemas.push({ name: `${String(method)} ${url}`, schema })),
    );
  await createWorld(t, { searcher: createMemorySearcher([]), routes: [collect, ...apiRoutes] });
  t.ok(schemas.length > 30);
  const validators = createValidatorCompiler();
  const serializers = createSerializerCompiler();
  for (const { name, schema } of schemas) {
    for (const httpPart of ['body', 'querystring', 'params'] as const) {
      if (schema[httpPart] !== undefined)
        t.doesNotThrow(() => {
          (
            validators({ schema: schema[httpPart], method: '', url: '', httpPart } as Parameters<
              typeof validators
            >[0]) as (value: unknown) => unknown
          )({});
        }, `${name} ${httpPart}`);
    }
    for (const [status, answer] of Object.entries(schema.response as Record<string, { content?: object }>)) {
      if (answer.content !== undefined) continue;
      t.doesNotThrow(() => {
        try {
          serializers({ schema: answer })({});
        } catch (error) {
          if (!/is required!|does not match schema definition|Cannot convert|must be/i.test(String(error))) throw error;
        }
      }, `${name} ${status}`);
    }
  }
});

const word = fc.oneof(
  fc.constantFrom(
    '',
    '*',
    'a',
    'timestamp',
    'level',
    'source:x',
    'a AND (',
    '"',
    '[1 TO 2]',
    '/a+/',
    '\u0000',
    'x'.repeat(5_000),
    '-1',
    '1e99',
    'now-1d/d',
    '2026-01-02T03:04:05Z',
    'last five minutes',
    'relative',
    'absolute',
    'keyword',
    'messages',
    'pivot',
    'values',
    'time',
    'a'.repeat(24),
    '__proto__',
    'constructor',
  ),
  fc.string({ maxLength: 20, unit: 'binary-ascii' }),
);
const name = fc.constantFrom(
  'id',
  'queries',
  'query',
  'query_string',
  'timerange',
  'type',
  'range',
  'from',
  'to',
  'keyword',
  'timezone',
  'search_types',
  'row_groups',
  'column_groups',
  'series',
  'fields',
  'field',
  'limit',
  'offset',
  'sort',
  'order',
  'direction',
  'filter',
  'filters',
  'streams',
  'entity',
  'title',
  'search_id',
  'state',
  'group_by',
  'metrics',
  'function',
  'interval',
  'timeunit',
  'percentile',
  'time_zone',
  'fields_in_order',
  'size',
  'global_override',
  'rollup',
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 6 }),
  ),
})).value;
const timerange = fc.oneof(
  fc.record({ type: fc.constant('relative'), range: fc.nat() }),
  fc.record(
    { type: fc.constantFrom('absolute', 'keyword', 'relative'), from: word, to: word, keyword: word, timezone: word },
    { requiredKeys: ['type'] },
  ),
);
const searchType = fc.record(
  {
    type: fc.constantFrom('messages', 'pivot', 'events', 'x'),
    limit: fc.nat(20_000),
    offset: fc.nat(100),
    query: fc.record({ query_string: word }),
    filter: value,
    sort: fc.array(fc.dictionary(name, value, { maxKeys: 4 }), { maxLength: 2 }),
    row_groups: fc.array(
      fc.record({ type: word, fields: fc.array(word, { maxLength: 2 }), limit: fc.integer(), interval: value }),
      { maxLength: 3 },
    ),
    series: fc.array(
      fc.record({ type: fc.constantFrom('count', 'avg', 'percentile', 'x'), field: word, percentile: value }),
      { maxLength: 3 },
    ),
    rollup: fc.boolean(),
  },
  { requiredKeys: ['type'] },
);
const search = fc.record(
  {
    queries: fc.array(
      fc.record(
        {
          query: fc.record({ query_string: word }),
          timerange,
          search_types: fc.array(searchType, { maxLength: 3 }),
          filter: value,
          streams: fc.array(word, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const script = fc.record(
  {
    query: word,
    timerange,
    streams: fc.array(word, { maxLength: 2 }),
    fields: fc.array(word, { maxLength: 3 }),
    size: fc.integer(),
    from: fc.integer(),
    sort: word,
    group_by: fc.array(
      fc.record({ field: word, limit: fc.integer(), granularity: word }, { requiredKeys: ['field'] }),
      { maxLength: 3 },
    ),
    metrics: fc.array(
      fc.record({ function: fc.constantFrom('count', 'avg', 'x'), field: word }, { requiredKeys: ['function'] }),
      { maxLength: 3 },
    ),
    query_string: word,
    time_zone: word,
    fields_in_order: fc.array(word, { maxLength: 3 }),
    limit: fc.integer(),
  },
  { requiredKeys: ['group_by', 'metrics'] },
);

t.test('no request is answered with a fault of ours', { timeout: 120_000 }, async (t) => {
  const { ask } = await createWorld(t, {
    searcher: createMemorySearcher([
      document(Date.now() - 1_000, 'one'),
      document(Date.now() - 2_000, 'two', { level: 3 }),
    ]),
    routes: [
      viewsSearchRoutes,
      viewsRoutes,
      searchValidateRoutes,
      universalRoutes,
      scriptingRoutes,
      exportRoutes,
      messageRoutes,
    ],
  });
  const posts = [
    '/api/views/search',
    '/api/views/search/sync',
    '/api/views',
    '/api/search/validate',
    '/api/search/messages',
    '/api/search/aggregate',
    '/api/views/search/messages',
    '/api/views/search/metadata',
  ];
  const gets = [
    '/api/search/universal/relative',
    '/api/search/universal/absolute',
    '/api/search/universal/keyword',
    '/api/search/messages',
    '/api/search/aggregate',
    '/api/views',
    '/api/search/saved',
    '/api/messages/x/y',
    '/api/views/zz',
    '/api/views/search/status/x',
  ];
  const failed: string[] = [];
  const seen = async (method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await ask(method, path, {
      as: 'operator',
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    });
    if (answer.statusCode >= 500)
      failed.push(`${method} ${path} ${JSON.stringify(body)}: ${answer.statusCode} ${answer.body}`);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...posts),
      fc.oneof(search, script, fc.dictionary(name, value)),
      async (path, body) => {
        await seen('POST', path, JSON.stringify(body));
        return failed.length === 0;
      },
    ),
    { numRuns: 400, seed: 6_2026 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...gets),
      fc.dictionary(
        fc.constantFrom(
          'query',
          'range',
          'from',
          'to',
          'keyword',
          'limit',
          'offset',
          'sort',
          'fields',
          'filter',
          'streams',
          'page',
          'per_page',
          'groups',
          'metrics',
          'timerange',
        ),
        word,
      ),
      async (path, query) => {
        await seen(
          'GET',
          `${path}?${Object.entries(query)
            .map(([key, text]) => `${key}=${encodeURIComponent(text)}`)
            .join('&')}`,
        );
        return failed.length === 0;
      },
    ),
    { numRuns: 400, seed: 6_2026 },
  );
  t.same(failed, []);
});
