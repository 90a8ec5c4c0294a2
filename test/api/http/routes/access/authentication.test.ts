import t from 'tap';
import { createAccessWorld } from './world.js';

const path = '/api/system/authentication/ldap';
const settings = {
  enabled: true,
  urls: ['ldap://127.0.0.1:1'],
  bind_dn: 'cn=reader,dc=x',
  bind_password: 'bind-secret',
  search_base: 'dc=x',
  role_mapping: [{ group: 'staff', roles: ['Reader'] }],
  timeout_ms: 200,
};

await t.test('the directory is set by an administrator; its password goes in and never comes out', async (test) => {
  const { ask, recorded } = await createAccessWorld(test);
  test.match((await ask('GET', path, { as: 'Admin' })).json(), {
    from_file: false,
    bind_password_set: false,
    settings: { enabled: false },
  });
  const set = await ask('PUT', path, { as: 'Admin', body: settings });
  test.equal(set.statusCode, 200);
  test.match(set.json(), {
    from_file: false,
    bind_password_set: true,
    settings: {
      enabled: true,
      urls: settings.urls,
      role_mapping: settings.role_mapping,
      search_filter: '(uid={user})',
    },
  });
  const again = await ask('PUT', path, { as: 'Admin', body: { start_tls: false, default_roles: ['Reader'] } });
  test.match(
    again.json(),
    { bind_password_set: true, settings: { search_base: 'dc=x', default_roles: ['Reader'] } },
    'what is left out stays',
  );
  const connection = await ask('POST', `${path}/test-connection`, { as: 'Admin', body: {} });
  test.match(connection.json(), { success: false, message: /ldap:\/\/127\.0\.0\.1:1.*ECONNREFUSED/ });
  const login = await ask('POST', `${path}/test-login`, {
    as: 'Admin',
    body: { username: 'bob', password: 'bob-secret' },
  });
  test.match(login.json(), { success: false });
  test.equal(
    (await ask('POST', '/api/system/sessions', { body: { username: 'bob', password: 'bob-secret' } })).statusCode,
    503,
  );
  test.equal(
    (await ask('POST', '/api/system/sessions', { body: { username: 'admin', password: 'admin-secret' } })).statusCode,
    200,
    'local users are not held up',
  );
  const said = [
    set.body,
    again.body,
    connection.body,
    login.body,
    (await ask('GET', path, { as: 'Admin' })).body,
    JSON.stringify(recorded),
  ].join('\n');
  test.notMatch(said, /bind-secret|bob-secret/);
});

await t.test('what is refused, with its status', async (test) => {
  const { ask } = await createAccessWorld(test);
  for (const body of [
    { enabled: true },
    { ...settings, urls: ['http://x'] },
    { ...settings, search_filter: '(uid=x)' },
    { ...settings, search_filter: '(uid={user}' },
    { ...settings, bind_password: null },
    { ...settings, timeout_ms: 1 },
  ]) {
    test.equal((await ask('PUT', path, { as: 'Admin', body })).statusCode, 400, JSON.stringify(body));
  }
  for (const as of ['Operator', 'AuditViewer']) {
    test.equal((await ask('GET', path, { as })).statusCode, 403);
    test.equal((await ask('PUT', path, { as, body: settings })).statusCode, 403);
    test.equal(
      (await ask('POST', `${path}/test-login`, { as, body: { username: 'a', password: 'b' } })).statusCode,
      403,
    );
  }
  test.equal((await ask('GET', path)).statusCode, 401);
});
