/** What was made through the API outlives the program, and works by itself after a kill. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { apiIdOf } from '../../core/object-ids.js';
import { startProgram, testFolder, until, type Program } from '../program.js';

const password = 'admin-first-password';

const first_passwords = { admin: password, operator: 'operator-first-password', audit_viewer: 'viewer-first-password' };

function apiOf(
  program: Program,
): (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const port = Number(/API +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.output())?.[1]);
  return async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        'x-requested-by': 'test',
        authorization: `Basic ${Buffer.from(`Admin:${password}`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} };
  };
}

await t.test('made, killed, started again', { timeout: 240_000 }, async (t) => {
  const folder = testFolder(t);
  const rules = join(folder, 'rules');
  mkdirSync(rules);
  writeFileSync(join(rules, 'sets.yaml'), 'index_sets: [{id: filed}]\n');
  const settings = {
    api: { port: 0 },
    access: { first_passwords },
    rules: { folder: rules },
    processing: { wait_for_more_ms: 50 },
    receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }],
  };
  const first = await startProgram(t, { folder, settings });
  const call = apiOf(first);
  t.equal(
    (
      await call('POST', '/api/system/indices/index_sets', {
        title: 'Shop',
        index_prefix: 'shop',
        rotation_strategy: { max_size: 1e9 },
        retention_strategy: { max_number_of_indices: 2 },
      })
    ).status,
    200,
  );
  t.equal(
    (
      await call('POST', '/api/streams', {
        title: 'Orders',
        index_set_id: 'shop',
        rules: [{ type: 1, field: 'app', value: 'orders' }],
        remove_matches_from_default_stream: true,
      })
    ).status,
    201,
  );
  t.equal((await call('POST', `/api/streams/${apiIdOf('orders')}/resume`)).status, 204);
  t.equal((await call('POST', '/api/streams', { title: 'Filed', index_set_id: 'filed' })).status, 201);
  t.equal(
    (
      await call('POST', '/api/system/inputs', {
        title: 'Own door',
        type: 'gelf_http',
        configuration: { host: '127.0.0.1', port: 0 },
      })
    ).status,
    201,
  );
  const send = async (program: Program, text: string): Promise<void> => {
    const { body } = await apiOf(program)('GET', '/api/system/inputstates/own-door');
    t.match(body, { state: 'RUNNING' });
    const answer = await fetch(`http://127.0.0.1:${(body['address'] as { port: number }).port}/gelf`, {
      method: 'POST',
      body: JSON.stringify({ host: 'h', short_message: text, _app: 'orders' }),
    });
    t.equal(answer.status, 202);
  };
  const stored = async (program: Program, text: string): Promise<Record<string, unknown>> =>
    until(
      async () => {
        const found = (await program.control.request('POST', '/search', {
          query: `message:"${text}"`,
          index_sets: ['shop'],
        })) as { readonly hits: readonly { readonly document: Record<string, unknown> }[] };
        return found.hits[0]?.document;
      },
      60_000,
      () => `${text} was not stored:\n${program.output().slice(-3_000)}`,
    );
  await send(first, 'before the kill');
  t.match(await stored(first, 'before the kill'), { streams: ['orders'], receiver: 'own-door' });
  await first.end('SIGKILL');

  rmSync(join(rules, 'sets.yaml'));
  const second = await startProgram(t, { folder, settings });
  await send(second, 'after the kill');
  t.match(await stored(second, 'after the kill'), { streams: ['orders'], receiver: 'own-door' });
  const again = apiOf(second);
  t.match(await again('GET', '/api/streams/filed'), { status: 200, body: { problem: /no index set/ } });
  t.match((await again('GET', '/api/system/notifications')).body['notifications'], [
    { type: 'object_left_out', details: { text: /^streams filed:/ } },
  ]);
  t.match(await again('PUT', '/api/streams/filed', { index_set_id: 'shop' }), { status: 200, body: { problem: null } });
  t.equal((await again('DELETE', '/api/streams/filed')).status, 204);
  t.equal(await second.end(), 0);
});

await t.test(
  'a receiver of the API never takes a port from the servers of the settings file',
  { timeout: 240_000 },
  async (t) => {
    const folder = testFolder(t);
    const first = await startProgram(t, { folder, settings: { access: { first_passwords } } });
    const made = await apiOf(first)('POST', '/api/system/inputs', {
      title: 'occ',
      type: 'gelf_tcp',
      configuration: { host: '127.0.0.1', port: 0 },
    });
    t.equal(made.status, 201);
    const taken = ((await apiOf(first)('GET', '/api/system/inputstates/occ')).body['address'] as { port: number }).port;
    t.match(await apiOf(first)('PUT', '/api/system/inputs/occ', { configuration: { port: taken } }), { status: 201 });
    t.equal(await first.end(), 0);

    const second = await startProgram(t, { folder, settings: { api: { port: taken } } });
    t.match(await apiOf(second)('GET', '/api/system/inputstates/occ'), {
      status: 200,
      body: { state: 'FAILED', detailed_message: new RegExp(`TCP port ${taken}, which api has taken`) },
    });
    const { notifications } = (await apiOf(second)('GET', '/api/system/notifications')).body as {
      notifications: readonly { details: { text: string; count?: number } }[];
    };
    t.match(
      notifications.filter(({ details }) => details.text.includes('receiver occ')),
      [{ details: { text: /which api has taken/, count: Number } }],
    );
    t.equal(notifications.filter(({ details }) => details.text.includes('receiver occ')).length, 1);
    t.equal(await second.end(), 0);

    const moved = await startProgram(t, { folder, settings: {} });
    t.match(
      await apiOf(moved)('GET', '/api/system/inputstates/occ'),
      { body: { state: 'RUNNING' } },
      'the port is free again',
    );
    t.equal(await moved.end(), 0);
  },
);
