/** Receivers: made, changed, stopped, started, deleted while the program runs. */
import { createServer, connect, type AddressInfo } from 'node:net';
import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { until } from '../../../../definitions/rig.js';
import { expectStatuses } from '../running.js';
import { startResources } from '../resources.js';

const world = await startResources(t);
const { told, sluice } = world;

t.test('a receiver: made and heard at once, changed, stopped, started, deleted', async (t) => {
  const base = '/api/system/inputs';
  const stored = async (text: string): Promise<boolean> => {
    await sluice.store?.indices.refresh(['sluice_default_0']);
    const found = await sluice.store?.queries.search({
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
