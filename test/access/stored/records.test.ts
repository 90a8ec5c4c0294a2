/**
 * Stored state is checked when it is read. What does not fit is refused with a typed error, and locks out nobody else.
 */
import t from 'tap';
import { newUser } from '../../../access/first-start.js';
import { readRole, readSession, readToken, readUser, type UserRecord } from '../../../access/stored/records.js';
import { administrator, codeOf, createTestAccess, createTestState, here, password } from '../support.js';

const user: UserRecord = { ...newUser('alice'), id: 'a'.repeat(24), created_at: 0 };
const session = { user_id: user.id, generation: 1, created_at: 0, used_at: 0, address: '' };

await t.test('records are read whole, with members of newer versions', async (test) => {
  const newer = { ...user, timezone: undefined, preferences: { theme: 'dark' }, member_of_tomorrow: 1 };
  test.equal(readUser({ key: 'users/alice', value: newer }), newer);
  test.same(readSession({ key: 'sessions/1', value: session }), session);
});

await t.test('what does not fit is refused with its key', async (test) => {
  const { id, ...withoutId } = user;
  for (const value of [withoutId, { ...user, roles: 'reader' }, { ...user, enabled: 1 }, null, [], 'alice'])
    test.throws(
      () => readUser({ key: 'users/alice', value }),
      { code: 'ACCESS_RECORD_INVALID' },
      JSON.stringify(value),
    );
  test.throws(() => readUser({ key: 'users/alice', value: { ...user, generation: '1' } }), {
    code: 'ACCESS_RECORD_INVALID',
    place: 'users/alice/generation',
  });
  test.throws(() => readRole({ key: 'roles/one', value: { name: 'one' } }), { code: 'ACCESS_RECORD_INVALID' });
  test.throws(() => readToken({ key: 'tokens/1', value: { id: 1 } }), { code: 'ACCESS_RECORD_INVALID' });
  test.ok(id);
});

await t.test('a broken user is left out; everybody else logs in, and sessions are listed', async (test) => {
  const state = await createTestState(test);
  await state.put('users/broken', { id: 'b'.repeat(24), username: 'broken' }, undefined);
  await state.put('sessions/broken', { user_id: 1 }, undefined);
  await state.put('authentication/ldap', { enabled: 'yes' }, undefined);
  const access = await createTestAccess(test, { state });
  test.equal((await access.authenticate(password('Admin', 'admin-secret'), here)).username, 'Admin');
  test.notOk(access.users(administrator).some(({ username }) => username === 'broken'));
  test.equal(await codeOf(access.authenticate(password('broken', 'secret'), here)), 'ACCESS_DENIED');
  test.equal((await access.sessions(administrator)).size, 0);
  test.equal(access.directoryEnabled(), false);
});
