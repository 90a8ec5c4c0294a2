/** The directory through the API, against a real slapd: set, tried, and used by who logs in. */
import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { createCertificates } from '../../../../receivers/certificates.js';
import { createSlapd, directoryPassword, directorySearch, slapdMissing } from '../../../../access/slapd.js';
import { basic } from '../../world.js';
import { createAccessWorld } from './world.js';

const path = '/api/system/authentication/ldap';
const slow = { skip: slapdMissing };
const team = {
  id: 'eu team',
  description: '',
  read: ['application-logs'],
  edit: [],
  capabilities: ['views:edit'],
  file: 'team.yaml',
} as const;
const fileRoles = [team];

await t.test('set, tested, and logged in with', slow, async (test) => {
  const slapd = await createSlapd(test, createCertificates(test));
  const { ask, recorded } = await createAccessWorld(test, { fileRoles: () => fileRoles });
  const settings = {
    ...directorySearch,
    urls: [slapd.url],
    role_mapping: [
      { group: 'log admins', roles: ['Administrator'] },
      { group: 'log-readers-*', roles: ['Reader', 'EU Team'] },
      { group: '*', roles: ['Operator'] },
    ],
    stream_mapping: [{ group: 'log-readers-eu', streams: ['System logs', 'integration-logs/edit'] }],
  };
  const as = 'Admin';
  test.match(
    (await ask('POST', `${path}/test-connection`, { as, body: { settings } })).json(),
    { success: true, message: /answers/ },
    'before it is set',
  );
  test.match(
    (
      await ask('POST', `${path}/test-connection`, { as, body: { settings: { ...settings, bind_password: 'wrong' } } })
    ).json(),
    {
      success: false,
      message:
        /access\.ldap\.bind_dn: .*invalid credentials \(49\), for the bind as "cn=reader,.*access\.ldap\.bind_password/,
    },
  );
  test.match(
    (await ask('POST', `${path}/test-connection`, { as, body: settings })).json(),
    { success: true },
    'in the words of PUT',
  );
  test.match(
    (await ask('POST', `${path}/test-connection`, { as, body: { ...settings, urls: ['ldap://127.0.0.1:1'] } })).json(),
    { success: false, message: /127\.0\.0\.1:1/ },
  );
  test.match(
    (
      await ask('POST', `${path}/test-login`, { as, body: { username: 'bob', password: 'bob-secret', ...settings } })
    ).json(),
    { success: true },
  );
  test.equal(
    (await ask('POST', '/api/system/sessions', { body: { username: 'bob', password: 'bob-secret' } })).statusCode,
    401,
    'a test sets nothing',
  );
  const set = await ask('PUT', path, { as, body: settings });
  test.match(set.json(), { bind_password_set: true });
  test.match((await ask('POST', `${path}/test-connection`, { as })).json(), { success: true }, 'those in force');
  test.match(
    (
      await ask('POST', `${path}/test-connection`, {
        as,
        body: { urls: ['ldap://127.0.0.1:1'], bind_password: directoryPassword },
      })
    ).json(),
    { success: false },
    'and not those in force where the body has others',
  );
  const tried = await ask('POST', `${path}/test-login`, { as, body: { username: 'bob', password: 'bob-secret' } });
  test.match(
    tried.json(),
    {
      success: true,
      user: { username: 'bob', full_name: 'Bob Example', email: 'bob@example.org' },
      roles: ['reader', 'eu team'],
      streams: ['system-logs/view', 'integration-logs/edit'],
    },
    'the first entry that fits one of the groups',
  );
  test.match(
    (await ask('POST', `${path}/test-login`, { as, body: { username: 'alice', password: 'alice-secret' } })).json(),
    { roles: ['administrator'] },
  );
  test.equal((await ask('GET', '/api/users/bob', { as })).statusCode, 404, 'a test makes no user');

  const login = await ask('POST', '/api/system/sessions', { body: { username: 'bob', password: 'bob-secret' } });
  test.equal(login.statusCode, 200);
  const headers = { authorization: basic(login.json<{ session_id: string }>().session_id, 'session') };
  const bob = (await ask('GET', '/api/users/bob', { headers })).json<{ permissions: string[] }>();
  test.match(bob, { username: 'bob', external: true, roles: ['Reader', 'eu team'], full_name: 'Bob Example' });
  test.same(
    bob.permissions.filter((text) => text.startsWith('streams:')).sort(),
    [
      ...['system-logs', 'application-logs', 'integration-logs'].map((id) => `streams:read:${apiIdOf(id)}`),
      `streams:edit:${apiIdOf('integration-logs')}`,
    ].sort(),
  );
  test.equal(
    (
      await ask('PUT', '/api/users/bob/password', {
        headers,
        body: { old_password: 'bob-secret', password: 'bob-secret-2' },
      })
    ).statusCode,
    403,
    'the directory keeps its password',
  );
  test.match(await ask('PUT', '/api/users/bob', { as, body: { email: 'x@example.org' } }), {
    statusCode: 403,
    body: /email: .*Got .*x@example.org/,
  });
  test.equal(
    (await ask('PUT', '/api/users/bob', { as, body: { ...bob, timezone: 'Europe/Berlin' } })).statusCode,
    204,
    'the whole user as it was read',
  );
  await slapd.stop();
  test.match((await ask('POST', `${path}/test-connection`, { as, body: {} })).json(), { success: false });
  test.equal(
    (await ask('POST', '/api/system/sessions', { body: { username: 'alice', password: 'alice-secret' } })).statusCode,
    503,
  );
  test.equal(
    (await ask('POST', '/api/system/sessions', { body: { username: 'Operator', password: 'operator-secret' } }))
      .statusCode,
    200,
    'local users log in while it is down',
  );
  test.equal((await ask('GET', '/api/users/bob', { headers })).statusCode, 200, 'and sessions go on');
  const said = [set.body, tried.body, (await ask('GET', path, { as })).body, JSON.stringify(recorded)].join('\n');
  test.notMatch(said, new RegExp(`${directoryPassword}|bob-secret|alice-secret`));
});

await t.test('a word that is not known is refused, wherever settings of the directory are taken', async (test) => {
  const { ask } = await createAccessWorld(test, {});
  const login = { username: 'bob', password: 'bob-secret' };
  for (const [method, route, body] of [
    ['PUT', path, { role_maping: [] }],
    ['POST', `${path}/test-connection`, { url: 'ldap://127.0.0.1:1' }],
    ['POST', `${path}/test-connection`, { settings: { url: 'ldap://127.0.0.1:1' } }],
    ['POST', `${path}/test-login`, { ...login, url: 'ldap://127.0.0.1:1' }],
    ['POST', `${path}/test-connection`, { settings: {}, urls: [] }],
  ] as const) {
    const answer = await ask(method, route, { as: 'Admin', body });
    test.equal(answer.statusCode, 400, `${method} ${JSON.stringify(body)}`);
    test.match(answer.body, /there is no .*(role_maping|url)|beside settings/);
  }
});

await t.test('a mapping that would give nothing is refused by its place', async (test) => {
  const { ask } = await createAccessWorld(test, { fileRoles: () => fileRoles });
  for (const [body, place, allowed] of [
    [
      { role_mapping: [{ group: 'x', roles: ['Reader', 'Nope'] }] },
      'role_mapping[0].roles[1]: The settings of the directory cannot be used. Got "Nope"',
      /Allowed: eu team, Administrator, Reader/,
    ],
    [{ default_roles: ['Nope'] }, 'default_roles[0]', /Got "Nope"/],
    [
      {
        stream_mapping: [
          { group: 'x', streams: ['System logs/view'] },
          { group: 'y', streams: ['Systm logs/edit'] },
        ],
      },
      'stream_mapping[1].streams[0]',
      /Allowed: .*System logs/,
    ],
    [
      { stream_mapping: [{ group: 'x', streams: ['audit logs/edit'] }] },
      'stream_mapping[0].streams[0]',
      /which no mapping opens\. Allowed: (?!.*Audit logs)/,
    ],
  ] as const) {
    const { statusCode, body: told } = await ask('PUT', path, { as: 'Admin', body });
    test.equal(statusCode, 400, told);
    const { message } = JSON.parse(told) as { message: string };
    test.ok(message.includes(place), message);
    test.match(message, allowed);
  }
  test.equal(
    (
      await ask('PUT', path, {
        as: 'Admin',
        body: {
          role_mapping: [{ group: 'x', roles: ['reader', 'EU Team'] }],
          stream_mapping: [{ group: 'x', streams: ['SYSTEM logs', `${apiIdOf('integration-logs')}/own`] }],
        },
      })
    ).statusCode,
    200,
  );
});
