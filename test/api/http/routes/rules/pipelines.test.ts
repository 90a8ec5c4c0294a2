/** Pipelines, their rules and connections, extractors and grok patterns, over one running pipeline. */
import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { apiRoutes } from '../../../../../api/http/routes.js';
import { expectStatuses, startRunning, type Row } from '../running.js';

const world = await startRunning(t, {
  routes: apiRoutes,
  files: { 'own.yaml': 'streams: [{id: own, title: Own, when: {field: app, equals: own}}]' },
});
const { told, sluice } = world;
const rules = '/api/system/pipelines/rule';
const pipelines = '/api/system/pipelines/pipeline';
const connections = '/api/system/pipelines/connections';
const defaultStream = '000000000000000000000001';
const source = (
  name: string,
  when = 'has_field("audit_mark")',
  then = 'route_to_stream(name: "Audit logs", remove_from_default: true);',
): string => `rule "${name}"\n// as it came\nwhen ${when}\nthen ${then}\nend\n`;
const routedTo = (document: Record<string, string>): readonly string[] =>
  sluice
    .rules()
    ?.apply({ source: 's', message: 'm', ...document }, { messageId: '0190-0-00000001', receiver: 'gelf-tcp' })
    .streams ?? [];

t.test('a rule is kept as it was written, and is in force when a pipeline that names it is connected', async (t) => {
  const made = await told('POST', rules, {
    body: { title: 'taken from the source', description: 'd', source: source('Route audit') },
  });
  t.match(made, {
    status: 200,
    body: {
      id: apiIdOf('route-audit'),
      name: 'route-audit',
      title: 'Route audit',
      description: 'd',
      source: source('Route audit'),
      errors: null,
      when: { field: 'audit_mark', exists: true },
      then: [{ route: { stream: 'audit-logs' } }, { leave_default_stream: true }],
      in_force: false,
      reason: 'No pipeline names it.',
      used_by: [],
    },
  });
  const piped = await told('POST', pipelines, {
    body: { title: '', source: 'pipeline "Logs routing" stage 0 match either rule "Route audit"; end' },
  });
  t.match(piped, {
    status: 200,
    body: {
      name: 'logs-routing',
      title: 'Logs routing',
      stages: [{ stage: 0, match: 'EITHER', rules: ['Route audit'] }],
      in_force: false,
      connected_streams: [],
    },
  });
  t.match((await told('GET', `${rules}/route-audit`)).body, {
    in_force: false,
    reason: 'No pipeline that names it is connected to a stream.',
    used_by: ['Logs routing'],
  });
  t.same(routedTo({ audit_mark: 'x' }), ['all-messages']);

  const id = String(piped.body['id']);
  t.match(await told('POST', `${connections}/to_stream`, { body: { stream_id: defaultStream, pipeline_ids: [id] } }), {
    status: 200,
    body: { stream_id: defaultStream, stream: 'all-messages', pipeline_ids: [id] },
  });
  t.same(routedTo({ audit_mark: 'x' }), ['audit-logs']);
  t.match((await told('GET', `${rules}/route-audit`)).body, {
    in_force: true,
    reason: 'A pipeline that is connected to a stream names it.',
  });
  t.match((await told('GET', `${connections}/${defaultStream}`)).body, { pipeline_ids: [id] });
  const shown = ((await told('GET', '/api/rules')).body['rules'] as readonly Record<string, unknown>[]).filter(
    ({ name }) => String(name).startsWith('pipeline--'),
  );
  t.match(shown, [
    { origin: 'api', is_editable: false, description: /Rule Route audit of the pipeline Logs routing, stage 0/ },
  ]);

  await told('PUT', `${rules}/route-audit`, {
    body: { source: source('Route audit', 'to_string($message.audit_mark) == "yes"') },
  });
  t.same([routedTo({ audit_mark: 'x' }), routedTo({ audit_mark: 'yes' })], [['all-messages'], ['audit-logs']]);
  await expectStatuses(t, world, [
    ['admin', 'PUT', `/api/rules/${String(shown[0]?.['name'])}`, 409, { enabled: false }],
    ['admin', 'DELETE', `/api/rules/${String(shown[0]?.['name'])}`, 409],
    ['admin', 'DELETE', `${rules}/route-audit`, 409],
    ['admin', 'PUT', `${rules}/route-audit`, 409, { source: source('Another name') }],
    ['admin', 'POST', rules, 409, { source: source('Route audit') }],
    ['admin', 'POST', pipelines, 409, { source: 'pipeline "Logs routing" end' }],
    ['admin', 'POST', rules, 400, { title: 'x' }],
    ['admin', 'POST', rules, 400, { source: '' }],
    ['admin', 'POST', rules, 400, { source: source('x', 'true', 'set_field("receiver", "x");') }],
    ['admin', 'POST', pipelines, 400, { source: 'pipeline "p" stage 0 match either rule "none" end' }],
    ['admin', 'POST', `${pipelines}/parse`, 400, { source: 'pipeline "p" stage x end' }],
    ['admin', 'POST', `${pipelines}/parse`, 200, { source: 'pipeline "p" stage 0 match pass rule "Route audit" end' }],
    ['admin', 'GET', `${rules}/none`, 404],
    ['admin', 'GET', `${pipelines}/none`, 404],
    ['admin', 'PUT', `${pipelines}/none`, 404, { source: 'pipeline "p" end' }],
    ['admin', 'DELETE', `${pipelines}/none`, 404],
    ['admin', 'GET', `${connections}/none`, 404],
    ['admin', 'POST', `${connections}/to_stream`, 404, { stream_id: 'none', pipeline_ids: [] }],
    ['admin', 'POST', `${connections}/to_stream`, 404, { stream_id: defaultStream, pipeline_ids: ['none'] }],
    ['admin', 'POST', `${connections}/to_stream`, 400, { stream_id: 'own', pipeline_ids: [id] }],
    ['admin', 'POST', `${connections}/to_pipeline`, 400, { pipeline_id: id, stream_ids: ['own'] }],
    ['admin', 'POST', `${connections}/to_pipeline`, 200, { pipeline_id: id, stream_ids: [] }],
    ['admin', 'POST', `${connections}/to_pipeline`, 200, { pipeline_id: id, stream_ids: [defaultStream] }],
  ]);
  const refused = await told('POST', `${rules}/parse`, {
    body: { source: 'rule "x"\nwhen cidr_match("10.0.0.0/8", to_ip($message.ip))\nthen debug("x");\nend' },
  });
  t.match(refused, {
    status: 400,
    body: {
      type: 'RequestError',
      code: 'OBJECT_TEXT_INVALID',
      message: /^2:6: The function cidr_match\(\)/,
      errors: [
        { line: 2, position_in_line: 6, reason: /cidr_match/ },
        { line: 3, position_in_line: 6, reason: /debug/ },
      ],
    },
  });
});

t.test(
  'a stream that a connected rule routes to cannot go; connections of a deleted pipeline or stream go with it',
  async (t) => {
    await told('POST', '/api/streams', { body: { title: 'Target' } });
    await told('POST', rules, { body: { source: source('To target', 'true', 'route_to_stream("Target");') } });
    await told('POST', pipelines, { body: { source: 'pipeline "To target" stage 0 match pass rule "To target" end' } });
    t.match(
      await told('POST', `${connections}/to_stream`, { body: { stream_id: 'target', pipeline_ids: ['to-target'] } }),
      { status: 200 },
    );
    await told('POST', '/api/streams/target/resume');
    t.same(routedTo({}), ['all-messages'], 'nothing routes there but its own pipeline');
    await told('POST', `${connections}/to_pipeline`, {
      body: { pipeline_id: 'to-target', stream_ids: [defaultStream, 'target'] },
    });
    t.same(routedTo({}), ['all-messages', 'target']);
    t.match(await told('DELETE', '/api/streams/target'), { status: 400 });
    await expectStatuses(t, world, [
      ['admin', 'DELETE', `${pipelines}/to-target`, 204],
      ['admin', 'GET', `${pipelines}/to-target`, 404],
      ['admin', 'DELETE', `${rules}/to-target`, 204],
      ['admin', 'DELETE', '/api/streams/target', 204],
    ]);
    t.notMatch(JSON.stringify((await told('GET', connections)).body), 'target');
  },
);

t.test('grok patterns are used by rules, which keep them', async (t) => {
  const base = '/api/system/grok';
  t.match(await told('POST', base, { body: { name: 'SHOPID', pattern: '(?>S-%{SHOPNUMBER})' } }), {
    status: 201,
    body: { id: apiIdOf('SHOPID'), problem: /refers to a pattern/ },
  });
  t.match(await told('POST', base, { body: { name: 'SHOPNUMBER', pattern: '\\d++' } }), {
    status: 201,
    body: { problem: null },
  });
  t.match(await told('GET', `${base}/SHOPID`), {
    status: 200,
    body: { pattern: '(?>S-%{SHOPNUMBER})', problem: null },
  });
  t.match(await told('POST', base, { body: { name: 'INT', pattern: '(?<![0-9])[0-9]+' } }), {
    status: 201,
    body: { problem: /ships is used instead/ },
  });
  t.match(
    await told('POST', `${base}/test`, {
      body: { grok_pattern: { name: 'x', pattern: 'id %{SHOPID:shop_id} %{INT}' }, sampleData: 'the id S-17 5' },
    }),
    { status: 200, body: { shop_id: 'S-17', INT: '5' } },
  );
  await told('POST', rules, {
    body: {
      source: source(
        'Shop',
        'true',
        'set_fields(grok(pattern: "%{SHOPID:shop_id}", value: to_string($message.message), only_named_captures: true));',
      ),
    },
  });
  await told('PUT', `${pipelines}/logs-routing`, {
    body: { source: 'pipeline "Logs routing" stage 0 match either rule "Route audit" rule "Shop" end' },
  });
  const document: Record<string, string> = { source: 's', message: 'sold by S-17' };
  sluice.rules()?.apply(document, { messageId: '0190-0-00000001', receiver: 'gelf-tcp' });
  t.equal(document['shop_id'], 'S-17');
  t.equal(
    (
      await world.ask('POST', base, {
        body: 'SHOPNAME [A-Z]+\n# a comment\n\nSHOPTOWN %{SHOPNAME}, %{WORD}\n',
        headers: { 'content-type': 'text/plain' },
      })
    ).statusCode,
    202,
  );
  t.equal(((await told('GET', base)).body['patterns'] as unknown[]).length, 5);
  await expectStatuses(t, world, [
    ['admin', 'DELETE', `${base}/SHOPNUMBER`, 400],
    ['admin', 'PUT', `${base}/SHOPNUMBER`, 200, { name: 'SHOPNUMBER', pattern: '[0-9]+' }],
    ['admin', 'PUT', `${base}/SHOPNUMBER`, 409, { name: 'INT', pattern: 'x' }],
    ['admin', 'PUT', `${base}/none`, 404, { name: 'none', pattern: 'x' }],
    ['admin', 'POST', base, 409, { name: 'INT', pattern: 'x' }],
    ['admin', 'POST', base, 400, { name: 'BROKEN', pattern: '(' }],
    ['admin', 'POST', base, 400, { name: 'no name', pattern: 'x' }],
    ['admin', 'POST', base, 400, {}],
    ['admin', 'PUT', `${base}?import-strategy=ABORT_ON_CONFLICT`, 409, { patterns: [{ name: 'INT', pattern: 'x' }] }],
    [
      'admin',
      'PUT',
      `${base}?import-strategy=REPLACE_ON_CONFLICT`,
      202,
      { patterns: [{ name: 'INT', pattern: '[0-9]+' }] },
    ],
    ['admin', 'DELETE', `${base}/INT`, 204],
    ['admin', 'GET', `${base}/INT`, 404],
    ['admin', 'POST', `${base}/test`, 400, { sampleData: 'x' }],
    ['admin', 'POST', `${base}/test`, 400, { pattern: '%{NONE:x}', sampleData: 'x' }],
    ['admin', 'PUT', `${base}?import-strategy=DROP_ALL_EXISTING`, 400, { patterns: [] }],
  ]);
  t.equal(
    (await world.ask('POST', base, { body: 'NOPATTERN', headers: { 'content-type': 'text/plain' } })).statusCode,
    400,
  );
});

t.test('extractors of a receiver', async (t) => {
  const base = '/api/system/inputs/gelf-tcp/extractors';
  const body = {
    title: 'Level',
    cut_or_copy: 'copy',
    source_field: 'message',
    target_field: 'word',
    extractor_type: 'regex',
    extractor_config: { regex_value: '^(\\w+)' },
    converters: {},
    condition_type: 'none',
    condition_value: '',
    order: 2,
  };
  const made = await told('POST', base, { body });
  t.match(made, { status: 201, body: { extractor_id: /^[0-9a-f]{24}$/ } });
  const id = String(made.body['extractor_id']);
  const other = String(
    (
      await told('POST', base, {
        body: { ...body, title: 'First', extractor_type: 'copy_input', target_field: 'whole', order: 1 },
      })
    ).body['extractor_id'],
  );
  t.match((await told('GET', base)).body, {
    total: 2,
    extractors: [
      { id: other },
      {
        id,
        title: 'Level',
        type: 'regex',
        cursor_strategy: 'copy',
        in_force: true,
        extractor_config: { regex_value: '^(\\w+)' },
      },
    ],
  });
  const extracted = (receiver: string): Record<string, unknown> => {
    const document: Record<string, string> = { source: 's', message: 'warn of it', receiver };
    sluice.rules()?.apply(document, { messageId: '0190-0-00000001', receiver });
    return { word: document['word'], whole: document['whole'] };
  };
  t.strictSame(
    [extracted('gelf-tcp'), extracted('another')],
    [
      { word: 'warn', whole: 'warn of it' },
      { word: undefined, whole: undefined },
    ],
  );
  t.match(await told('PUT', `${base}/${id}`, { body: { ...body, target_field: 'first-word', order: undefined } }), {
    status: 200,
    body: { target_field: 'first-word', order: 2 },
  });
  await expectStatuses(t, world, [
    ['admin', 'POST', `${base}/order`, 204, { order: { 0: id, 1: other } }],
    ['admin', 'POST', `${base}/order`, 404, { order: { 0: 'none' } }],
    ['admin', 'POST', base, 400, { ...body, extractor_type: 'lookup_table' }],
    ['admin', 'POST', base, 400, { ...body, cut_or_copy: 'cut' }],
    ['admin', 'POST', base, 400, { ...body, converters: { hash: {} } }],
    ['admin', 'POST', base, 400, { ...body, extractor_config: { regex_value: '(?=x)(a)' } }],
    ['admin', 'POST', base, 400, {}],
    ['admin', 'POST', '/api/system/inputs/none/extractors', 404, body],
    ['admin', 'GET', '/api/system/inputs/none/extractors', 404],
    ['admin', 'GET', `${base}/none`, 404],
    ['admin', 'PUT', `${base}/none`, 404, body],
    ['admin', 'DELETE', `${base}/${other}`, 204],
    ['admin', 'DELETE', `${base}/${other}`, 404],
    ['admin', 'GET', `${base}/${id}`, 200],
  ]);
  const input = String(
    (
      await told('POST', '/api/system/inputs', {
        body: { title: 'Short-lived', type: 'gelf_tcp', configuration: { bind_address: '127.0.0.1', port: 0 } },
      })
    ).body['id'],
  );
  t.match(await told('POST', `/api/system/inputs/${input}/extractors`, { body }), { status: 201 });
  t.match(await told('DELETE', `/api/system/inputs/${input}`), { status: 204 });
  t.equal(
    sluice.world
      .stored()
      .filter(({ kind, definition }) => kind === 'extractors' && definition['input'] === 'short-lived').length,
    0,
    'they go with their receiver',
  );
});

t.test('who may do what, and what is recorded', async (t) => {
  const extractors = '/api/system/inputs/gelf-tcp/extractors';
  const grok = '/api/system/grok';
  const changes: readonly (readonly [string, string, unknown?])[] = [
    ['POST', rules, { source: source('n') }],
    ['PUT', `${rules}/route-audit`, { source: source('n') }],
    ['DELETE', `${rules}/route-audit`],
    ['POST', `${rules}/parse`, { source: source('n') }],
    ['POST', pipelines, { source: 'pipeline "n" end' }],
    ['PUT', `${pipelines}/logs-routing`, { source: 'pipeline "n" end' }],
    ['DELETE', `${pipelines}/logs-routing`],
    ['POST', `${pipelines}/parse`, { source: 'pipeline "n" end' }],
    ['POST', `${connections}/to_stream`, { stream_id: defaultStream, pipeline_ids: [] }],
    ['POST', `${connections}/to_pipeline`, { pipeline_id: 'x', stream_ids: [] }],
    ['POST', extractors, {}],
    ['PUT', `${extractors}/x`, {}],
    ['DELETE', `${extractors}/x`],
    ['POST', `${extractors}/order`, {}],
    ['POST', grok, {}],
    ['PUT', grok, {}],
    ['PUT', `${grok}/x`, {}],
    ['DELETE', `${grok}/x`],
    ['POST', `${grok}/test`, {}],
    ['POST', '/api/system/content_packs', {}],
    ['DELETE', '/api/system/content_packs/x'],
    ['DELETE', '/api/system/content_packs/x/1'],
    ['POST', '/api/system/content_packs/x/1/installations', {}],
    ['DELETE', '/api/system/content_packs/x/installations/y'],
    ['GET', '/api/system/content_packs'],
    ['GET', '/api/system/content_packs/latest'],
    ['GET', '/api/system/content_packs/x'],
    ['GET', '/api/system/content_packs/x/1'],
    ['GET', '/api/system/content_packs/x/installations'],
  ];
  const reads = [
    rules,
    `${rules}/route-audit`,
    pipelines,
    `${pipelines}/logs-routing`,
    connections,
    `${connections}/${defaultStream}`,
    extractors,
    grok,
  ];
  const denied = (as: string, status: number): readonly Row[] =>
    changes.map(([method, path, body]) => [as, method, path, status, body]);
  await expectStatuses(t, world, [
    ...denied('operator', 403),
    ...denied('reader', 403),
    ...denied('', 401),
    ...reads.map((path): Row => ['operator', 'GET', path, 200]),
    ...reads.map((path): Row => ['reader', 'GET', path, 403]),
  ]);
  const actions = new Set(world.recorded.map(({ fields }) => fields?.['audit_action']));
  for (const action of [
    'pipeline_rule:create',
    'pipeline_rule:update',
    'pipeline_rule:delete',
    'pipeline:create',
    'pipeline:update',
    'pipeline:delete',
    'pipeline_connection:update',
    'extractor:create',
    'extractor:update',
    'extractor:delete',
    'extractor:order',
    'grok_pattern:create',
    'grok_pattern:update',
    'grok_pattern:delete',
    'grok_pattern:import',
    'content_pack:create',
  ])
    t.ok(actions.has(action), action);
});
