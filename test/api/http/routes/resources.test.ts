/** Index sets, indices, outputs, receivers, rules, obfuscation and the system, over one running pipeline. */
import { createServer, connect, type AddressInfo } from 'node:net';
import t from 'tap';
import { apiIdOf } from '../../../../core/object-ids.js';
import { apiRoutes } from '../../../../api/http/routes.js';
import { until } from '../../../definitions/rig.js';
import { expectStatuses, startRunning } from './running.js';

const files = {
  'own.yaml':
    'index_sets: [{id: filed, description: Of the file.}]\nrules: [{id: own-rule, when: {always: true}, then: [{set: {field: seen, value: yes}}]}]\noutputs: [{id: own-output, type: gelf, host: 127.0.0.1, port: 9, enabled: false}]',
};
const world = await startRunning(t, { routes: apiRoutes, files });
const { told, sluice } = world;
const list = (body: Record<string, unknown>, key: string) => body[key] as readonly Record<string, unknown>[];

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
    return (await sluice.store?.listIndices('shop'))?.length === 0;
  });
});

t.test('an output: made, sends, tells its lag and error, keeps its secret, attached and deleted', async (t) => {
  const base = '/api/system/outputs';
  const received: string[] = [];
  const destination = createServer(
    (socket) => void socket.on('data', (data) => void received.push(data.toString())),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    destination.once('listening', resolve);
  });
  t.teardown(() => void destination.close());
  const { port } = destination.address() as AddressInfo;
  const made = await told('POST', base, {
    body: {
      title: 'To the SIEM',
      type: 'GELF',
      host: '127.0.0.1',
      port,
      transport: 'TCP',
      streams: ['000000000000000000000001'],
    },
  });
  t.match(made, {
    status: 201,
    body: {
      name: 'to-the-siem',
      type: 'GELF',
      host: '127.0.0.1',
      port,
      transport: 'TCP',
      streams: ['000000000000000000000001'],
      secrets: [],
    },
  });
  await until(() => sluice.rules()?.outputs?.some(({ id }) => id === 'to-the-siem') === true);
  const sender = connect(
    (sluice.receivers[0] as NonNullable<(typeof sluice.receivers)[0]>).address().port,
    '127.0.0.1',
    () => sender.end('{"version":"1.1","host":"a","short_message":"hello out there"}\0'),
  );
  await until(() => received.join('').includes('hello out there'));
  await until(async () => (await told('GET', `${base}/to-the-siem/state`)).body['lag'] === 0);
  t.match(await told('GET', `${base}/to-the-siem/state`), {
    status: 200,
    body: { state: 'connected', failed: 0, last_error: null },
  });

  t.match(
    await told('GET', `${base}/own-output/state`),
    { status: 200, body: { state: 'paused', lag: 0, oldest: null, last_error: null } },
    'switched off in its file',
  );
  t.equal((await told('POST', `${base}/to-the-siem/pause`)).status, 204);
  await until(async () => (await told('GET', `${base}/to-the-siem/state`)).body['state'] === 'paused');
  t.match((await told('GET', `${base}/to-the-siem`)).body, {
    enabled: false,
    state: { state: 'paused', lag: 0, sent: Number },
  });
  t.equal((await told('POST', `${base}/to-the-siem/resume`)).status, 204);

  const http = await told('POST', base, {
    body: {
      title: 'By HTTP',
      type: 'org.example.GelfOutput',
      configuration: { hostname: '127.0.0.1', port: 9, protocol: 'HTTP', gelf: { token: 'hunter2', path: '/in' } },
    },
  });
  t.match(http, { status: 201, body: { secrets: ['gelf.token'], configuration: { gelf: { path: '/in' } } } });
  await told('PUT', `${base}/by-http`, {
    body: { title: 'By HTTP, again', configuration: { gelf: { messages_per_request: 5 } } },
  });
  const everything = [
    await told('GET', base),
    await told('GET', `${base}/by-http`),
    http,
    await told('GET', '/api/streams'),
  ];
  t.notMatch(JSON.stringify(everything), /hunter2|SLUICE_OBJECT/);
  t.equal(
    sluice.world.objects().find('outputs', 'by-http')?.secrets['gelf.token']?.value,
    'hunter2',
    'a secret that is not given stays',
  );
  await told('PUT', `${base}/by-http`, { body: { configuration: { gelf: { token: null } } } });
  t.match((await told('GET', `${base}/by-http`)).body, {
    title: 'By HTTP, again',
    secrets: [],
    configuration: { gelf: { path: '/in', messages_per_request: 5 } },
  });

  await told('PUT', `${base}/by-http`, {
    body: { configuration: { id: 'other', streams: ['audit-logs'], enabled: false } },
  });
  t.match(
    (await told('GET', `${base}/by-http`)).body,
    { name: 'by-http', streams: [], enabled: true },
    'what the members of the body say is not said by the configuration',
  );
  await expectStatuses(t, world, [
    ['admin', 'POST', '/api/streams/system-logs/outputs', 202, { outputs: ['by-http'] }],
    ['admin', 'POST', '/api/streams/system-logs/outputs', 202, { outputs: ['own-output'] }],
    ['admin', 'GET', '/api/streams/system-logs/outputs', 200],
    ['alice', 'POST', '/api/streams/system-logs/outputs', 403, { outputs: ['by-http'] }],
    ['operator', 'POST', '/api/streams/audit-logs/outputs', 404, { outputs: ['by-http'] }],
    ['admin', 'POST', '/api/streams/system-logs/outputs', 404, { outputs: ['nothing'] }],
    ['admin', 'DELETE', '/api/streams/system-logs/outputs/own-output', 204],
    ['admin', 'DELETE', '/api/streams/system-logs/outputs/own-output', 404],
    ['admin', 'POST', base, 400, { title: 'x', type: 'KAFKA' }],
    ['admin', 'POST', base, 400, { type: 'GELF' }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'GELF' }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'SYSLOG', host: 'a', port: 1, transport: 'SCTP' }],
    [
      'admin',
      'POST',
      base,
      400,
      { title: 'x', type: 'GELF', host: 'a', port: 1, configuration: { tls: { ca_file: '../../etc/shadow' } } },
    ],
    ['admin', 'POST', base, 400, { title: 'x', type: 'GELF', host: 'a', port: 1, configuration: { colour: 'red' } }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'GELF', host: 'a', port: 1, streams: ['nothing'] }],
    ['admin', 'PUT', `${base}/own-output`, 409, { title: 'x' }],
    ['admin', 'DELETE', `${base}/own-output`, 409],
    ['admin', 'GET', `${base}/available`, 200],
    ['operator', 'GET', base, 200],
    ['operator', 'POST', base, 403, { title: 'x' }],
    ['operator', 'PUT', `${base}/by-http`, 403, {}],
    ['operator', 'DELETE', `${base}/by-http`, 403],
    ['reader', 'GET', base, 403],
    ['admin', 'POST', `${base}/by-http/pause`, 204],
    ['admin', 'POST', `${base}/by-http/resume`, 204],
    ['operator', 'POST', `${base}/by-http/pause`, 403],
    ['admin', 'DELETE', `${base}/by-http`, 204],
    ['admin', 'GET', `${base}/by-http`, 404],
    ['admin', 'DELETE', `${base}/to-the-siem`, 204],
  ]);
});

t.test('a receiver: made and heard at once, changed, stopped, started, deleted', async (t) => {
  const base = '/api/system/inputs';
  const stored = async (text: string): Promise<boolean> => {
    await sluice.store?.refresh(['sluice_default_0']);
    const found = await sluice.store?.search({
      indices: ['sluice_default_0'],
      query: { kind: 'phrase', field: 'message', text },
      limit: 1,
    });
    return found?.hits[0]?.document['receiver'] === 'second-door';
  };
  const made = await told('POST', base, {
    body: {
      title: 'Second door',
      type: 'org.example.GELFTCPInput',
      global: true,
      configuration: {
        bind_address: '127.0.0.1',
        port: 0,
        use_null_delimiter: false,
        max_message_size: 1_000_000,
        tls_enable: false,
        number_worker_threads: 2,
      },
    },
  });
  t.match(made, { status: 201, body: { id: apiIdOf('second-door'), name: 'second-door' } });
  const state = await told('GET', '/api/system/inputstates/second-door');
  t.match(state, { status: 200, body: { state: 'RUNNING', address: { protocol: 'gelf-tcp' } } });
  const { port } = state.body['address'] as { port: number };
  const sender = connect(port, '127.0.0.1', () =>
    sender.end('{"version":"1.1","host":"a","short_message":"by the second door"}\n'),
  );
  await until(() => stored('by the second door'));
  t.match((await told('GET', `${base}/second-door`)).body, {
    title: 'Second door',
    type: 'gelf_tcp',
    configuration: { framing: 'newline', max_frame_bytes: 1_000_000 },
    desired_state: 'RUNNING',
    origin: 'api',
  });

  t.match(await told('DELETE', '/api/system/inputstates/second-door'), { status: 200, body: { state: 'STOPPED' } });
  await t.rejects(
    new Promise((resolve, reject) => {
      connect(port, '127.0.0.1').once('connect', resolve).once('error', reject);
    }),
    { code: 'ECONNREFUSED' },
  );
  t.match(await told('PUT', '/api/system/inputstates/second-door'), { status: 200, body: { state: 'RUNNING' } });
  t.equal((await told('PUT', `${base}/second-door`, { body: { configuration: { framing: 'null' } } })).status, 201);
  t.match((await told('GET', `${base}/second-door`)).body, {
    configuration: { framing: 'null', max_frame_bytes: 1_000_000 },
  });

  const blocker = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    blocker.once('listening', resolve);
  });
  t.teardown(() => void blocker.close());
  const taken = (blocker.address() as AddressInfo).port;
  t.equal(
    (
      await told('POST', base, {
        body: {
          title: 'Taken',
          type: 'gelf_http',
          configuration: { host: '127.0.0.1', port: taken, token: 'hunter2' },
        },
      })
    ).status,
    201,
  );
  t.match((await told('GET', '/api/system/inputstates/taken')).body, { state: 'FAILED', detailed_message: String });
  t.match((await told('GET', `${base}/taken`)).body, { secrets: ['token'] });
  t.notMatch(JSON.stringify([await told('GET', base), await told('GET', '/api/system/inputstates')]), 'hunter2');

  await expectStatuses(t, world, [
    ['admin', 'PUT', `${base}/gelf-tcp`, 409, { title: 'x' }],
    ['admin', 'DELETE', `${base}/gelf-tcp`, 409],
    ['admin', 'DELETE', '/api/system/inputstates/gelf-tcp', 409],
    ['admin', 'GET', '/api/system/inputstates/gelf-tcp', 200],
    ['admin', 'GET', `${base}/nothing`, 404],
    ['admin', 'POST', base, 400, { title: 'x' }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'syslog' }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'gelf_tcp', configuration: { prot: 1 } }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'gelf_tcp', configuration: { port: 'many' } }],
    ['admin', 'POST', base, 400, { title: 'x', type: 'gelf_tcp', configuration: { port: taken, tls_enable: true } }],
    ['admin', 'PUT', `${base}/second-door`, 400, { configuration: { port: taken } }],
    ['operator', 'GET', base, 200],
    ['operator', 'GET', `${base}/types`, 200],
    ['operator', 'POST', base, 403, { title: 'x' }],
    ['operator', 'PUT', `${base}/second-door`, 403, {}],
    ['operator', 'DELETE', `${base}/second-door`, 403],
    ['operator', 'PUT', '/api/system/inputstates/second-door', 403],
    ['operator', 'DELETE', '/api/system/inputstates/second-door', 403],
    ['reader', 'GET', base, 403],
    ['', 'GET', base, 401],
    ['admin', 'DELETE', `${base}/taken`, 204],
    ['admin', 'DELETE', `${base}/second-door`, 204],
    ['admin', 'GET', '/api/system/inputstates/second-door', 404],
  ]);
});

t.test('a rule: tried before it is saved, then in force', async (t) => {
  const when = { field: 'app', equals: 'shop' };
  const message = { source: 'a', message: 'x', app: 'shop' };
  t.match(
    await told('POST', '/api/rules/try', {
      body: { when, then: [{ set: { field: 'team', value: 'red' } }, { route: { stream: 'system-logs' } }], message },
    }),
    {
      status: 200,
      body: {
        matches: true,
        condition: { held: true },
        changes: [{ field: 'team', before: null, after: 'red' }],
        streams: [{ name: 'all-messages' }, { name: 'system-logs' }],
      },
    },
  );
  t.match(
    await told('POST', '/api/rules', {
      body: { description: 'Team of the shop', when, then: [{ set: { field: 'team', value: 'red' } }] },
    }),
    { status: 201, body: { id: apiIdOf('team-of-the-shop'), name: 'team-of-the-shop', enabled: true } },
  );
  const document: Record<string, string> = { ...message };
  sluice.rules()?.apply(document, { messageId: '1', receiver: 'r' });
  t.equal(document['team'], 'red');
  t.match(await told('POST', '/api/rules/team-of-the-shop/try', { body: { message: { ...message, app: 'other' } } }), {
    status: 200,
    body: { matches: false, state: 'not matched', condition: { held: false, found: '"other"' } },
  });
  t.match(await told('PUT', '/api/rules/team-of-the-shop', { body: { enabled: false } }), {
    status: 200,
    body: { enabled: false, when },
  });
  await expectStatuses(t, world, [
    ['admin', 'POST', '/api/rules', 400, { when: { field: 'a', equal: 'b' }, then: [{ drop: {} }] }],
    ['admin', 'POST', '/api/rules', 400, { description: 'nothing' }],
    ['admin', 'POST', '/api/rules', 409, { name: 'own-rule', when, then: [{ drop: {} }] }],
    ['admin', 'POST', '/api/rules/try', 400, { when: { fild: 1 }, message }],
    ['admin', 'PUT', '/api/rules/own-rule', 409, { enabled: false }],
    ['admin', 'DELETE', '/api/rules/own-rule', 409],
    ['admin', 'DELETE', '/api/rules/level-default', 409],
    ['admin', 'PUT', '/api/rules/level-default', 200, { enabled: false }],
    ['admin', 'GET', '/api/rules/nothing', 404],
    ['operator', 'GET', '/api/rules', 200],
    ['operator', 'GET', '/api/rules/own-rule', 200],
    ['operator', 'POST', '/api/rules', 403, { when }],
    ['operator', 'PUT', '/api/rules/own-rule', 403, {}],
    ['operator', 'DELETE', '/api/rules/own-rule', 403],
    ['operator', 'POST', '/api/rules/try', 403, { message }],
    ['operator', 'POST', '/api/rules/own-rule/try', 403, { message }],
    ['operator', 'POST', '/api/rules/try/history', 403, { when }],
    ['admin', 'POST', '/api/rules/try/history', 200, { when, messages: 10 }],
    ['admin', 'POST', '/api/rules/try/history', 400, { when: { never: 1 } }],
    ['reader', 'GET', '/api/rules', 403],
    ['admin', 'DELETE', '/api/rules/team-of-the-shop', 204],
  ]);
});

t.test('obfuscation: tried, changed in our words and in those of the plugin, set back', async (t) => {
  const base = '/api/system/obfuscation';
  const plugin = '/api/plugins/org.example.obfuscation/obfuscation';
  t.match(await told('POST', `${base}/try`, { body: { text: 'it is 123-45-6789, so' } }), {
    status: 200,
    body: { text: 'it is ********, so', found: [{ start: 6, end: 17, text: '123-45-6789', pattern: 'us-ssn' }] },
  });
  t.match(await told('POST', plugin, { body: { text: 'it is 123-45-6789' } }), {
    status: 200,
    body: {
      obfuscatedText: 'it is ********',
      foundSensitiveData: [{ sensitiveText: '123-45-6789', finder: 'us-ssn' }],
    },
  });
  t.match(
    await told('PUT', base, {
      body: { enabled: true, streams: ['All messages'], patterns: [{ id: 'card', pattern: '\\b4\\d{15}\\b' }] },
    }),
    { status: 200, body: { enabled: true, streams: ['all-messages'], fields: ['message', 'full_message'] } },
  );
  const document = { message: 'card 4111111111111111' };
  sluice.rules()?.apply(document, { messageId: '1', receiver: 'r' });
  t.equal(document.message, 'card ********');
  t.match(await told('GET', `${plugin}/configuration`), {
    status: 200,
    body: {
      'is-obfuscation-enabled': true,
      'text-replacer': 'Static Star Replacer',
      'stream-titles': ['All messages'],
    },
  });
  t.match(
    await world.ask('POST', `${plugin}/configuration`, {
      body: {
        'stream-titles': ['Audit logs'],
        'sensitive-regular-expressions': [{ id: 0, name: 'Zero', pattern: 'secret\\d', importance: 2 }],
      },
    }),
    { statusCode: 200, body: 'Success' },
  );
  t.match((await told('GET', `${plugin}/configuration`)).body, {
    'stream-titles': ['Audit logs'],
    'sensitive-regular-expressions': [{ id: 0, name: 'Zero', importance: 2 }],
    'is-obfuscation-enabled': true,
  });
  await expectStatuses(t, world, [
    ['admin', 'PUT', base, 400, { patterns: [{ id: 'bad', pattern: '(?=x)' }] }],
    ['admin', 'PUT', base, 400, { streams: ['nowhere'] }],
    ['admin', 'POST', `${base}/try`, 400, { text: 'x', patterns: [{ id: 'bad', pattern: '(' }] }],
    [
      'admin',
      'POST',
      `${plugin}/configuration`,
      400,
      {
        'sensitive-regular-expressions': [
          { id: 1, name: 'a', pattern: 'a' },
          { id: 1, name: 'b', pattern: 'b' },
        ],
      },
    ],
    ['admin', 'GET', `${plugin}/replacers`, 200],
    ['operator', 'GET', base, 403],
    ['operator', 'PUT', base, 403, {}],
    ['operator', 'DELETE', base, 403],
    ['operator', 'POST', `${base}/try`, 403, { text: 'x' }],
    ['operator', 'GET', `${plugin}/configuration`, 403],
    ['operator', 'POST', `${plugin}/configuration`, 403, {}],
    ['operator', 'POST', plugin, 403, { text: 'x' }],
    ['admin', 'DELETE', base, 204],
    ['admin', 'DELETE', base, 204],
  ]);
  t.match((await told('GET', base)).body, { enabled: false, streams: ['audit-logs'] });
});

t.test('the system tells what it is and does', async (t) => {
  t.match(await told('GET', '/api/system', { as: 'reader' }), {
    status: 200,
    body: { version: String, lb_status: 'alive', is_processing: true },
  });
  const status = await world.ask('GET', '/api/system/lbstatus', { as: '' });
  t.match([status.statusCode, status.body, status.headers['content-type']], [200, 'ALIVE', /text\/plain/]);
  t.equal((await world.ask('PUT', '/api/system/lbstatus/override/dead')).statusCode, 204);
  t.match([(await world.ask('GET', '/api/system/lbstatus', { as: '' })).statusCode], [503]);
  t.equal((await world.ask('PUT', '/api/system/lbstatus/override/throttled')).statusCode, 204);
  t.match([(await world.ask('GET', '/api/system/lbstatus', { as: '' })).statusCode], [429]);
  t.match(await told('GET', '/api/system/journal'), {
    status: 200,
    body: { enabled: true, writable: true, uncommitted_journal_entries: Number, stored: Number },
  });
  const metrics = await world.ask('GET', '/api/metrics/prometheus', {
    as: 'operator',
    headers: { accept: 'text/plain' },
  });
  t.match(metrics.body, /^# HELP sluice_/m);
  await expectStatuses(t, world, [
    ['admin', 'PUT', '/api/system/lbstatus/override/automatic', 204],
    ['operator', 'PUT', '/api/system/lbstatus/override/dead', 403],
    ['admin', 'PUT', '/api/system/lbstatus/override/asleep', 400],
    ['', 'GET', '/api/system/lbstatus', 200],
    ['', 'GET', '/api/system', 401],
    ['reader', 'GET', '/api/cluster', 200],
    ['operator', 'GET', '/api/system/cluster/nodes', 200],
    ['operator', 'GET', '/api/system/cluster/node', 200],
    ['operator', 'GET', '/api/system/notifications', 200],
    ['operator', 'GET', '/api/system/throughput', 200],
    ['reader', 'GET', '/api/system/journal', 403],
    ['reader', 'GET', '/api/metrics/prometheus', 403],
    ['reader', 'GET', '/api/system/notifications', 403],
  ]);
  t.ok(list((await told('GET', '/api/system/cluster/nodes')).body, 'nodes').length === 1);
});

t.test('dead letters are listed, shown, planned, replayed and dropped, by administrators only', async (t) => {
  const base = '/api/dead-letters';
  const sender = connect(
    (sluice.receivers[0] as NonNullable<(typeof sluice.receivers)[0]>).address().port,
    '127.0.0.1',
    () => sender.end('{"version":"1.1","host":"a"}\0not json\0'),
  );
  await until(async () => ((await told('GET', base)).body['total'] as number) === 2);
  const deadLetters = list((await told('GET', `${base}?limit=1`)).body, 'dead_letters');
  t.equal(deadLetters.length, 1);
  const id = encodeURIComponent(deadLetters[0]?.['id'] as string);
  t.match(await told('GET', `${base}/${id}`), { status: 200, body: { document: { code: String, raw: String } } });
  const finished = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const begun = await told('POST', path, { body });
    t.equal(begun.status, 202);
    const job = `${base}/jobs/${begun.body['id'] as string}`;
    await until(async () => (await told('GET', job)).body['state'] !== 'running');
    return (await told('GET', job)).body;
  };
  t.match(await finished(`${base}/replay`, { all: true, dry_run: true }), {
    kind: 'plan',
    state: 'done',
    by: 'admin',
    report: { done: 2 },
  });
  t.match(await finished(`${base}/replay`, { all: true }), { kind: 'replay', state: 'done', report: { failed: 2 } });
  t.match(await finished(`${base}/drop`, { ids: [deadLetters[0]?.['id']] }), {
    kind: 'drop',
    state: 'done',
    report: { dropped: 1 },
  });
  t.match((await told('GET', `${base}?state=dropped`)).body, {
    total: 1,
    dead_letters: [{ document: { dropped_by: 'admin' } }],
  });
  await expectStatuses(t, world, [
    ['admin', 'POST', `${base}/replay`, 400, {}],
    ['admin', 'POST', `${base}/drop`, 400, { from: 'never' }],
    ['admin', 'GET', `${base}?query=(`, 400],
    ['admin', 'GET', `${base}/nothing`, 404],
    ['admin', 'GET', `${base}/jobs/nothing`, 404],
    ['admin', 'DELETE', `${base}/jobs/nothing`, 404],
    ['admin', 'GET', `${base}/jobs`, 200],
    ['operator', 'GET', base, 403],
    ['operator', 'GET', `${base}/${id}`, 403],
    ['operator', 'POST', `${base}/replay`, 403, { all: true }],
    ['operator', 'POST', `${base}/drop`, 403, { all: true }],
    ['operator', 'GET', `${base}/jobs`, 403],
    ['reader', 'GET', base, 403],
    ['', 'GET', base, 401],
  ]);
});
