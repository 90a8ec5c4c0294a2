/** Outputs: made, observed, attached to streams, deleted; secrets stay secret. */
import { createServer, connect, type AddressInfo } from 'node:net';
import t from 'tap';
import { until } from '../../../../definitions/rig.js';
import { expectStatuses } from '../running.js';
import { startResources } from '../resources.js';

const world = await startResources(t);
const { told, sluice } = world;

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
    sluice.world.writer().find('outputs', 'by-http')?.secrets['gelf.token']?.value,
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
