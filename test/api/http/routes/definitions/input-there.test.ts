/** The input that scripts make is the receiver that the settings have. */
import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { receiverRoutes } from '../../../../../api/http/routes/definitions/receivers.js';
import { extractorRoutes } from '../../../../../api/http/routes/definitions/extractors.js';
import { startRunning } from '../running.js';

const probe = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => {
  probe.once('listening', resolve);
});
const { port } = probe.address() as AddressInfo;
await new Promise((resolve) => {
  probe.close(resolve);
});

const world = await startRunning(t, {
  routes: [receiverRoutes, extractorRoutes],
  settings: { receivers: [{ type: 'gelf_tcp', name: 'from-settings', host: '127.0.0.1', port }] },
});
const post = (configuration: object, type = 'org.graylog2.inputs.gelf.tcp.GELFTCPInput') =>
  world.told('POST', '/api/system/inputs', { body: { title: `input-${port}`, type, global: true, configuration } });

t.test('an input of the same kind at the same port is there already', async (t) => {
  const made = await post({ bind_address: '127.0.0.1', port, tls_enable: false, max_message_size: 2_097_152 });
  t.match(made, {
    status: 201,
    body: { id: apiIdOf('from-settings'), name: 'from-settings', note: /settings stay as they are/ },
  });
  t.match((await world.told('GET', '/api/system/inputs')).body, { total: 1 });
  t.match(
    await world.told('POST', `/api/system/inputs/${String(made.body['id'])}/extractors`, {
      body: {
        title: 'Copy',
        extractor_type: 'copy_input',
        source_field: 'message',
        target_field: 'copied',
        extractor_config: {},
      },
    }),
    { status: 201 },
  );
});

t.test('what would not be the same is refused, and what is elsewhere is made', async (t) => {
  t.match(await post({ bind_address: '127.0.0.1', port, tls_enable: true }), { status: 400 });
  t.match(await post({ bind_address: '127.0.0.1', port }, 'gelf_http'), {
    status: 400,
    body: { validation_errors: { port: [{ error: /receiver from-settings has taken/ }] } },
  });
  t.match(await post({ bind_address: '127.0.0.1', port, use_null_delimiter: false }), { status: 400 });
  t.match(await post({ bind_address: '0.0.0.0', port }), { status: 400 }, 'the receiver listens on one address only');
  const other = await post({ bind_address: '127.0.0.1', port: 0 });
  t.match(other, { status: 201, body: { name: `input-${port}` } });
  t.equal(other.body['note'], undefined);
});

t.test("a port of the program's own servers is refused, by address and protocol", async (t) => {
  const { api, admin } = world.services.config;
  for (const [title, server] of Object.entries({ api, admin })) {
    for (const host of [server.host, '0.0.0.0', 'localhost']) {
      t.match(
        await post({ bind_address: host, port: server.port }),
        {
          status: 400,
          body: {
            validation_errors: { port: [{ error: new RegExp(`TCP port ${server.port}, which ${title} has taken`) }] },
          },
        },
        `${title} at ${host}`,
      );
    }
    t.match(await post({ bind_address: '127.0.0.3', port: server.port }), { status: 201 }, `${title}: another address`);
    t.match(
      await post({ bind_address: server.host, port: server.port }, 'gelf_udp'),
      { status: 201 },
      `${title}: another protocol`,
    );
  }
});

t.test('one that is stopped takes no port, and is refused when it is started', async (t) => {
  const made = await post({ bind_address: '127.0.0.1', port: 0 });
  const id = String(made.body['name']);
  const { port: taken } = world.services.config.api;
  t.match(await world.told('PUT', `/api/system/inputs/${id}`, { body: { configuration: { port: taken } } }), {
    status: 400,
  });
  t.match(await world.told('DELETE', `/api/system/inputstates/${id}`), { status: 200, body: { state: 'STOPPED' } });
  t.match(await world.told('PUT', `/api/system/inputs/${id}`, { body: { configuration: { port: taken } } }), {
    status: 201,
  });
  t.match(await world.told('PUT', `/api/system/inputstates/${id}`), { status: 400 });
});
