import t from 'tap';
import { createAccessWorld, passwords } from './world.js';
import { basic } from '../../world.js';

await t.test('users are made, read, changed and deleted by an administrator', async (test) => {
  const { ask, recorded } = await createAccessWorld(test);
  const created = await ask('POST', '/api/users', {
    as: 'Admin',
    body: {
      username: 'Zoë Ex',
      password: 'zoe-secret',
      email: 'zoe@example.org',
      full_name: 'Zoë van Example',
      roles: ['Reader', 'operator'],
      permissions: [],
      session_timeout_ms: 3_600_000,
      timezone: 'Europe/Berlin',
      startpage: { type: 'stream', id: 'x' },
    },
  });
  test.same([created.statusCode, created.body, created.headers['location']], [201, '', '/api/users/Zo%C3%AB%20Ex']);
  const user = (await ask('GET', '/api/users/ZO%C3%8B%20EX', { as: 'Admin' })).json<Record<string, unknown>>();
  test.match(user, {
    username: 'Zoë Ex',
    first_name: 'Zoë',
    last_name: 'van Example',
    full_name: 'Zoë van Example',
    email: 'zoe@example.org',
    roles: ['Reader', 'Operator'],
    session_timeout_ms: 3_600_000,
    timezone: 'Europe/Berlin',
    external: false,
    read_only: false,
    account_status: 'enabled',
    service_account: false,
    session_active: false,
    startpage: { type: 'stream', id: 'x' },
    permissions: ['streams:read'],
  });
  test.notMatch(JSON.stringify(user), /argon2|secret/);
  const byId = await ask('GET', `/api/users/id/${String(user['id'])}`, { as: 'Admin' });
  test.same(byId.json(), user);
  test.equal(
    (
      await ask('PUT', `/api/users/${String(user['id'])}`, {
        as: 'Admin',
        body: { email: 'z@example.org', roles: ['AuditViewer'] },
      })
    ).statusCode,
    204,
  );
  test.match((await ask('GET', '/api/users', { as: 'Admin' })).json(), {
    users: [
      { username: 'Admin' },
      { username: 'AuditViewer' },
      { username: 'Operator' },
      { email: 'z@example.org', roles: ['AuditViewer'] },
    ],
  });
  test.match(
    (await ask('GET', '/api/users/paginated?per_page=1&page=2&sort=username&query=o', { as: 'Admin' })).json(),
    { total: 2, count: 1, page: 2, per_page: 1, users: [{ username: 'Zoë Ex' }] },
  );
  test.equal((await ask('PUT', '/api/users/zo%C3%AB%20ex/status/disabled', { as: 'Admin' })).statusCode, 200);
  test.equal((await ask('PUT', '/api/users/zo%C3%AB%20ex/status/disabled', { as: 'Admin' })).statusCode, 304);
  test.equal(
    (await ask('GET', '/api/users/zo%C3%AB%20ex', { headers: { authorization: basic('Zoë Ex', 'zoe-secret') } }))
      .statusCode,
    401,
  );
  test.equal((await ask('DELETE', '/api/users/zo%C3%AB%20ex', { as: 'Admin' })).statusCode, 204);
  test.equal((await ask('GET', '/api/users/zo%C3%AB%20ex', { as: 'Admin' })).statusCode, 404);
  test.match(recorded.map(({ text }) => text).join('\n'), /Admin user:create username=Zoë Ex success/);
});

await t.test(
  'the record of a change names what differs from before, and permissions are not taken where roles do not give them',
  async (test) => {
    const { ask, recorded } = await createAccessWorld(test);
    const recordOf = async (body: unknown, path = '/api/users/operator') => {
      recorded.length = 0;
      const { statusCode, body: answer } = await ask('PUT', path, { as: 'Admin', body });
      const { text, fields } = recorded.at(-1) ?? {};
      return { statusCode, answer, text, details: JSON.parse(String(fields?.['audit_details'] ?? '{}')) as unknown };
    };
    const unchanged = (await ask('GET', '/api/users/operator', { as: 'Admin' })).json<{
      permissions: string[];
      email: string;
      roles: string[];
    }>();
    const done = { statusCode: 204, text: 'audit: Admin user:update username=Operator success' };
    test.match(await recordOf({ permissions: ['*'] }), {
      statusCode: 400,
      answer: /"permissions":.*\*.*come with roles/,
      text: 'audit: Admin user:update username=Operator failure',
      details: {},
    });
    test.match(await recordOf({ permissions: [...unchanged.permissions, 'users:edit'], email: 'next@example.org' }), {
      statusCode: 400,
      answer: /users:edit/,
    });
    test.same((await ask('GET', '/api/users/operator', { as: 'Admin' })).json(), unchanged, 'nothing of it is taken');
    const changing = async (body: unknown, changed: readonly string[], path?: string) => {
      const { statusCode, text, details } = await recordOf(body, path);
      test.same(
        { statusCode, text, details },
        { ...done, details: { changed, roles: ['Reader', 'Operator'] } },
        JSON.stringify(body).slice(0, 100),
      );
    };
    await changing({ permissions: [] }, []);
    await changing(unchanged, []);
    await changing(
      {
        permissions: null,
        email: 'next@example.org',
        full_name: 'The Operator',
        roles: ['operator', 'READER'],
        unknown: 1,
      },
      ['email', 'first_name', 'last_name'],
    );
    await changing({ preferences: { theme: 'dark' } }, ['preferences'], '/api/users/operator/preferences');
    for (const [permissions, status] of [
      [['*'], 400],
      [['streams:read'], 400],
      [[], 201],
    ] as const) {
      test.equal(
        (
          await ask('POST', '/api/users', {
            as: 'Admin',
            body: { username: 'new', password: 'new-secret', roles: ['Operator'], permissions },
          })
        ).statusCode,
        status,
        JSON.stringify(permissions),
      );
    }
  },
);

await t.test('what is refused, with its status', async (test) => {
  const { ask } = await createAccessWorld(test);
  const create = async (body: Record<string, unknown>) =>
    (await ask('POST', '/api/users', { as: 'Admin', body: { username: 'new', password: 'new-secret', ...body } }))
      .statusCode;
  test.equal(await create({ username: 'ADMIN' }), 400, 'taken');
  test.equal(await create({ roles: ['No such role'] }), 400);
  test.equal(await create({ password: 'NEW' }), 400);
  test.equal(await create({ timezone: 'Mars/Olympus' }), 400);
  test.equal(await create({ session_timeout_ms: 0 }), 400);
  test.equal(await create({ email: 5 }), 400);
  test.equal((await ask('PUT', '/api/users/nobody', { as: 'Admin', body: {} })).statusCode, 404);
  test.equal((await ask('DELETE', '/api/users/admin', { as: 'Admin' })).statusCode, 400, 'oneself');
  test.equal((await ask('PUT', '/api/users/admin/status/disabled', { as: 'Admin' })).statusCode, 400);
  test.equal(
    (await ask('PUT', '/api/users/admin', { as: 'Admin', body: { roles: ['Reader'] } })).statusCode,
    400,
    'the last administrator',
  );
  test.equal((await ask('GET', '/api/users/admin')).statusCode, 401);
  for (const [method, path] of [
    ['GET', '/api/users/admin'],
    ['GET', '/api/users/nobody'],
    ['DELETE', '/api/users/admin'],
    ['PUT', '/api/users/admin'],
    ['PUT', '/api/users/admin/status/disabled'],
  ] as const) {
    test.equal(
      (await ask(method, path, { as: 'Operator', ...(method === 'PUT' && path.endsWith('admin') ? { body: {} } : {}) }))
        .statusCode,
      403,
      `${method} ${path} by Operator`,
    );
  }
  test.equal(
    (await ask('POST', '/api/users', { as: 'AuditViewer', body: { username: 'x-new', password: 'new-secret' } }))
      .statusCode,
    403,
  );
  const own = (await ask('GET', '/api/users', { as: 'Operator' })).json<{ users: { username: string }[] }>();
  test.same(
    own.users.map(({ username }) => username),
    ['Operator'],
  );
  test.equal(
    (await ask('PUT', '/api/users/operator', { as: 'Operator', body: { roles: ['Administrator'] } })).statusCode,
    403,
  );
  test.equal(
    (await ask('PUT', '/api/users/operator', { as: 'Operator', body: { email: 'o@example.org' } })).statusCode,
    204,
    'oneself',
  );
});

await t.test(
  'a password changes by name and by id, with the old one for oneself, and ends the sessions',
  async (test) => {
    const { ask, access } = await createAccessWorld(test);
    const change = async (as: string, who: string, body: unknown) =>
      ask('PUT', `/api/users/${who}/password`, { as, body });
    test.equal((await change('Operator', 'admin', { password: 'x-secret' })).statusCode, 403);
    test.equal((await change('Admin', 'nobody', { password: 'x-secret' })).statusCode, 404);
    const missing = await change('Admin', 'admin', { password: 'next-secret' });
    test.same(
      [missing.statusCode, missing.json<{ message: string }>().message],
      [400, 'Old password is missing or incorrect.'],
    );
    test.equal(
      (await change('Operator', 'operator', { password: 'next-secret', old_password: 'wrong' })).statusCode,
      400,
    );
    test.equal(
      (await change('Operator', 'operator', { password: 'abc', old_password: passwords['Operator'] })).statusCode,
      400,
      'too short',
    );
    const { sessionId, userId } = await access.openSession('operator', 'operator-secret', { address: '127.0.0.1' });
    const done = await change('Operator', userId, { password: 'next-secret', old_password: passwords['Operator'] });
    test.same([done.statusCode, done.body], [204, '']);
    test.equal(
      (await ask('GET', '/api/users/operator', { headers: { authorization: basic(sessionId, 'session') } })).statusCode,
      401,
    );
    test.equal((await ask('GET', '/api/users/operator', { as: 'Operator' })).statusCode, 401, 'the old password');
    test.equal(
      (await ask('GET', '/api/users/operator', { headers: { authorization: basic('operator', 'next-secret') } }))
        .statusCode,
      200,
    );
    test.equal(
      (await change('Admin', 'Operator', { password: 'third-secret' })).statusCode,
      204,
      'an administrator needs no old one',
    );
  },
);
