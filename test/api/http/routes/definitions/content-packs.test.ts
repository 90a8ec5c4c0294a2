/** Content packs over one running pipeline: kept, installed as far as Sluice has it, taken back. */
import t from 'tap';
import { apiRoutes } from '../../../../../api/http/routes.js';
import { expectStatuses, startRunning } from '../running.js';

const world = await startRunning(t, { routes: apiRoutes });
const { told } = world;
const base = '/api/system/content_packs';
const value = (text: string) => ({ '@type': 'string', '@value': text });
const entity = (id: string, type: string, data: object) => ({
  v: '1',
  id,
  type: { name: type, version: '1' },
  data,
  constraints: [],
});
const pack = {
  v: '1',
  id: 'pack-1',
  rev: 1,
  name: 'Pack',
  summary: 's',
  description: 'd',
  vendor: 'v',
  url: '',
  created_at: '2026-01-01T00:00:00.000Z',
  server_version: '5.2.0',
  parameters: [{ name: 'PORT', title: 'Port', type: 'integer', default_value: 0 }],
  entities: [
    entity('e-dashboard', 'dashboard', {
      title: value('Sources'),
      summary: value(''),
      search: {
        queries: [
          {
            id: 'q',
            query: { type: 'elasticsearch', query_string: '*' },
            timerange: { type: 'relative', range: 300 },
            search_types: [],
          },
        ],
      },
      state: {},
      properties: [],
    }),
    entity('e-pipeline', 'pipeline', {
      title: value('Packed'),
      description: value(''),
      source: value('pipeline "Packed" stage 0 match either rule "Packed rule" end'),
      connected_streams: [value('e-stream')],
    }),
    entity('e-rule', 'pipeline_rule', {
      title: value('Packed rule'),
      source: value('rule "Packed rule" when has_field("packed") then set_field("seen", "yes"); end'),
    }),
    entity('e-unsupported', 'pipeline_rule', {
      title: value('Odd'),
      source: value('rule "Odd" when true then debug("x"); end'),
    }),
    entity('e-stream', 'stream', {
      title: value('Packed stream'),
      description: value('x'),
      disabled: { '@type': 'boolean', '@value': false },
      matching_type: value('AND'),
      stream_rules: [],
      outputs: [],
      default_stream: { '@type': 'boolean', '@value': false },
    }),
    entity('e-lookup', 'lookup_table', { title: value('Table') }),
    entity('e-grok', 'grok_pattern', { name: value('PACKED'), pattern: value('[a-z]+') }),
    entity('e-input', 'input', {
      title: value('Packed input'),
      type: value('org.graylog2.inputs.gelf.tcp.GELFTCPInput'),
      global: { '@type': 'boolean', '@value': true },
      configuration: { bind_address: value('127.0.0.1'), port: { '@type': 'parameter', '@value': 'PORT' } },
      extractors: [
        {
          title: value('Copy'),
          type: value('COPY_INPUT'),
          cursor_strategy: value('COPY'),
          source_field: value('message'),
          target_field: value('copied'),
          configuration: {},
          converters: [],
          condition_type: value('NONE'),
          condition_value: value(''),
          order: { '@type': 'integer', '@value': 0 },
        },
      ],
    }),
    entity('e-output', 'output', {
      title: value('Packed output'),
      type: value('org.graylog2.outputs.GelfOutput'),
      configuration: {
        hostname: value('127.0.0.1'),
        port: { '@type': 'integer', '@value': 9 },
        protocol: value('TCP'),
      },
    }),
    entity('e-set', 'index_set', { title: value('Packed set'), index_prefix: value('packed') }),
  ],
};

t.test('kept, listed, and installed with what was not made and why', async (t) => {
  t.match(await told('POST', base, { body: pack }), { status: 201, body: { id: 'pack-1', rev: 1 } });
  await told('POST', base, { body: { ...pack, rev: 2, entities: [] } });
  t.match((await told('GET', base)).body, {
    total: 2,
    content_packs_metadata: { 'pack-1': { 1: { installation_count: 0 }, 2: { installation_count: 0 } } },
  });
  t.match((await told('GET', `${base}/latest`)).body, { total: 1, content_packs: [{ rev: 2 }] });
  t.strictSame((await told('GET', `${base}/pack-1/1`)).body, pack, 'as it was given');
  t.match((await told('GET', `${base}/pack-1`)).body, { content_pack_revisions: [1, 2] });

  const { status, body } = await told('POST', `${base}/pack-1/1/installations`, {
    body: { parameters: {}, comment: 'try' },
  });
  t.equal(status, 200);
  t.strictSame((body['entities'] as { entity_id: string }[]).map(({ entity_id: id }) => id).sort(), [
    'e-dashboard',
    'e-grok',
    'e-input',
    'e-output',
    'e-pipeline',
    'e-rule',
    'e-set',
    'e-stream',
  ]);
  t.match(body['skipped_entities'], [
    { entity_id: 'e-unsupported', reason: /debug\(\) is not supported/ },
    { entity_id: 'e-lookup', type: 'lookup_table', title: 'Table', reason: /nothing that Sluice has/ },
  ]);
  t.match((await told('GET', '/api/streams/packed-stream')).body, { disabled: false });
  t.match((await told('GET', '/api/system/pipelines/pipeline/packed')).body, { in_force: true });
  t.match((await told('GET', '/api/system/inputs/packed-input/extractors')).body, { total: 1 });
  t.match((await told('GET', '/api/dashboards')).body, { elements: [{ title: 'Sources' }] });
  t.ok(
    world.recorded.some(
      ({ fields }) => fields?.['audit_action'] === 'stream:create' && fields['audit_actor'] === 'admin',
    ),
    'each object is recorded too',
  );

  await expectStatuses(t, world, [
    ['admin', 'DELETE', `${base}/pack-1`, 409],
    ['admin', 'DELETE', `${base}/pack-1/1`, 409],
    ['admin', 'DELETE', `${base}/pack-1/2`, 204],
    ['admin', 'POST', base, 400, pack],
    ['admin', 'POST', base, 400, { ...pack, v: '9' }],
    ['admin', 'POST', base, 400, {}],
    ['admin', 'GET', `${base}/none`, 404],
    ['admin', 'GET', `${base}/pack-1/7`, 404],
    ['admin', 'DELETE', `${base}/none`, 404],
    ['admin', 'DELETE', `${base}/pack-1/9`, 404],
    ['admin', 'POST', `${base}/pack-1/9/installations`, 404, {}],
    ['admin', 'DELETE', `${base}/pack-1/installations/none`, 404],
    ['admin', 'GET', `${base}/pack-1/installations`, 200],
  ]);
  const again = await told('POST', `${base}/pack-1/1/installations`, { body: {} });
  const skipped = again.body['skipped_entities'] as { entity_id: string; reason: string }[];
  t.strictSame(
    skipped.map(({ entity_id: id }) => id),
    ['e-set', 'e-grok', 'e-rule', 'e-unsupported', 'e-pipeline', 'e-lookup'],
  );
  t.ok(
    skipped
      .filter(({ entity_id: id }) => ['e-set', 'e-grok', 'e-rule', 'e-pipeline'].includes(id))
      .every(({ reason }) => reason.includes('already')),
    'what is there is named',
  );
});

t.test('taken back as a whole', async (t) => {
  const { installations } = (await told('GET', `${base}/pack-1/installations`)).body as {
    installations: { _id: string }[];
  };
  for (const { _id: id } of [...installations].reverse())
    t.match(await told('DELETE', `${base}/pack-1/installations/${id}`), { status: 200, body: { failed_objects: [] } });
  t.match((await told('GET', `${base}/pack-1/installations`)).body, { total: 0 });
  t.same((await told('GET', '/api/system/pipelines/rule')).body, []);
  await expectStatuses(t, world, [
    ['admin', 'GET', '/api/streams/packed-stream', 404],
    ['admin', 'GET', '/api/system/inputs/packed-input', 404],
    ['admin', 'GET', '/api/system/outputs/packed-output', 404],
    ['admin', 'GET', '/api/system/grok/PACKED', 404],
    ['admin', 'GET', '/api/system/indices/index_sets/packed', 404],
    ['admin', 'DELETE', `${base}/pack-1`, 204],
    ['admin', 'GET', base, 200],
  ]);
});
