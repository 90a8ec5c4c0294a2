import t from 'tap';
import { basic } from '../../world.js';
import { createAccessWorld } from './world.js';

await t.test('a token is shown once, opens the API, and is deleted', async (test) => {
  const { ask, recorded } = await createAccessWorld(test);
  const created = await ask('POST', '/api/users/operator/tokens/ci', { as: 'Operator', body: { token_ttl: 'P1DT2H' } });
  const {
    token,
    id,
    expires_at: expires,
    created_at: at,
  } = created.json<{ token: string; id: string; expires_at: string; created_at: string }>();
  test.equal(created.statusCode, 200);
  test.equal(Date.parse(expires) - Date.parse(at), 26 * 3_600_000);
  for (const authorization of [basic(token, 'token'), `Bearer ${token}`])
    test.match((await ask('GET', '/api/users/operator', { headers: { authorization } })).json(), {
      username: 'Operator',
    });
  const list = await ask('GET', '/api/users/operator/tokens', { as: 'Operator' });
  test.match(list.json(), { tokens: [{ id, name: 'ci' }] });
  test.notMatch(list.body, token);
  test.equal((await ask('DELETE', `/api/users/operator/tokens/${id}`, { as: 'Operator' })).statusCode, 204);
  test.equal(
    (await ask('GET', '/api/users/operator', { headers: { authorization: `Bearer ${token}` } })).statusCode,
    401,
  );
  test.equal((await ask('DELETE', `/api/users/operator/tokens/${id}`, { as: 'Operator' })).statusCode, 404);
  test.notMatch(recorded.map(({ text, fields }) => text + JSON.stringify(fields)).join('\n'), token);
});

await t.test('a token without a body lasts as the setting says; what is refused', async (test) => {
  const { ask } = await createAccessWorld(test);
  const created = (await ask('POST', '/api/users/admin/tokens/default', { as: 'Admin' })).json<{
    expires_at: string;
    created_at: string;
  }>();
  test.equal(Date.parse(created.expires_at) - Date.parse(created.created_at), 30 * 86_400_000);
  test.match((await ask('POST', '/api/users/admin/tokens/ever', { as: 'Admin', body: { token_ttl: 'PT0S' } })).json(), {
    expires_at: null,
  });
  for (const text of ['P', 'PT', '30 days', 'P1M2', 'P999999999W', ''])
    test.equal(
      (await ask('POST', '/api/users/admin/tokens/wrong', { as: 'Admin', body: { token_ttl: text } })).statusCode,
      400,
      text,
    );
  test.equal(
    (await ask('POST', '/api/users/admin/tokens/default', { as: 'Admin' })).statusCode,
    400,
    'the name is taken',
  );
  test.equal((await ask('GET', '/api/users/admin/tokens', { as: 'Operator' })).statusCode, 403);
  test.equal((await ask('POST', '/api/users/admin/tokens/mine', { as: 'Operator' })).statusCode, 403);
  test.equal((await ask('GET', '/api/users/nobody/tokens', { as: 'Admin' })).statusCode, 404);
});
