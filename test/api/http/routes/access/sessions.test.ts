import t from 'tap';
import { throttled } from '../../../../../access/errors.js';
import { basic } from '../../world.js';
import { createAccessWorld } from './world.js';

const path = '/api/system/sessions';

await t.test('login, use, and logout as scripts do it', async (test) => {
  const { ask, access } = await createAccessWorld(test);
  const login = await ask('POST', path, { body: { username: 'admin', password: 'admin-secret', host: '' } });
  test.equal(login.statusCode, 200);
  const body = login.json<{ session_id: string; valid_until: string; username: string; user_id: string }>();
  test.match(body, {
    username: 'Admin',
    user_id: /^[0-9a-f]{24}$/,
    session_id: /^[0-9a-f]{64}$/,
    valid_until: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/,
  });
  const cookie = String(login.headers['set-cookie']);
  test.match(cookie, new RegExp(`^authentication=${body.session_id}; Path=/; HttpOnly; SameSite=Strict$`));
  for (const headers of [
    { cookie: `authentication=${body.session_id}` },
    { authorization: basic(body.session_id, 'session') },
  ]) {
    test.same((await ask('GET', path, { headers })).json(), {
      is_valid: true,
      session_id: body.session_id,
      username: 'Admin',
    });
    test.equal((await ask('GET', '/api/users/admin', { headers })).statusCode, 200, 'the look-up after the login');
  }
  const logout = await ask('DELETE', `${path}/${body.session_id}`, {
    headers: { authorization: basic(body.session_id, 'session') },
  });
  test.same([logout.statusCode, logout.body], [204, '']);
  test.match(String(logout.headers['set-cookie']), /^authentication=; .*Expires=Thu, 01 Jan 1970/);
  const stale = await ask('GET', path, { headers: { cookie: `authentication=${body.session_id}` } });
  test.same([stale.statusCode, stale.json()], [200, { is_valid: false, session_id: null, username: null }]);
  test.match(String(stale.headers['set-cookie']), /^authentication=;/, 'a cookie that has ended is cleared');
  test.equal(
    (
      await ask('DELETE', `${path}/${body.session_id}`, {
        headers: { authorization: basic(body.session_id, 'session') },
      })
    ).statusCode,
    401,
  );
  test.equal((await ask('DELETE', `${path}/unknown`, { as: 'Admin' })).statusCode, 204, 'an unknown one is taken');
  const own = await access.openSession('operator', 'operator-secret', { address: '127.0.0.1' });
  test.equal(
    (await ask('DELETE', path, { headers: { cookie: `authentication=${own.sessionId}` } })).statusCode,
    204,
    'without the id in the path',
  );
  test.equal(
    (await ask('GET', '/api/users/operator', { headers: { cookie: `authentication=${own.sessionId}` } })).statusCode,
    401,
  );
});

await t.test('what is wrong with a login', async (test) => {
  const { ask, recorded } = await createAccessWorld(test);
  const unknown = await ask('POST', path, { body: { username: 'nobody', password: 'x-secret' } });
  const wrong = await ask('POST', path, { body: { username: 'admin', password: 'x-secret' } });
  test.same([unknown.statusCode, wrong.statusCode], [401, 401]);
  test.same(unknown.json(), wrong.json(), 'one answer');
  test.equal(wrong.headers['set-cookie'], undefined);
  for (const body of [
    {},
    { username: 'admin' },
    { username: 'admin', password: 5 },
    { username: null, password: null },
    [],
  ])
    test.equal((await ask('POST', path, { body })).statusCode, 400, JSON.stringify(body));
  test.equal(
    (
      await ask('POST', path, {
        body: { username: 'admin', password: 'admin-secret' },
        headers: { cookie: 'authentication=stale' },
      })
    ).statusCode,
    200,
    'a stale cookie does not keep one out',
  );
  const texts = recorded.map(({ text }) => text).join('\n');
  test.match(texts, /Invalid credentials in session create request/);
  test.notMatch(texts, /secret/);
});

await t.test('who guesses is asked to wait', async (test) => {
  const { ask } = await createAccessWorld(test, {
    throttle: {
      attempt: () => Promise.reject(throttled(2_100)),
      forgive: () => undefined,
      waiting: () => 0,
      stop: () => undefined,
    },
  });
  const refused = await ask('POST', path, { body: { username: 'admin', password: 'wrong' } });
  test.same([refused.statusCode, refused.headers['retry-after']], [429, '3']);
});
