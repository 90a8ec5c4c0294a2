import t from 'tap';
import type { StateStore } from '../../state/contract.js';
import { administrator, codeOf, createTestAccess, createTestState, here, password, until } from './support.js';

const hour = 3_600_000;

await t.test('a session lasts as long as it is used, and ends after its time without use', async (test) => {
  let time = Date.now();
  const access = await createTestAccess(test, { now: () => time });
  await access.changeUser(administrator, 'Admin', { sessionTimeoutMs: hour });
  const { sessionId, validUntil, userId } = await access.openSession('admin', 'admin-secret', here);
  test.equal(validUntil, time + hour);
  test.match(sessionId, /^[0-9a-f]{64}$/);
  for (let use = 0; use < 5; use += 1) {
    time += 0.9 * hour;
    test.match(await access.authenticate({ kind: 'session', sessionId }, here), { userId, by: 'session', sessionId });
  }
  time += hour;
  test.equal(await codeOf(access.authenticate({ kind: 'session', sessionId }, here)), 'ACCESS_DENIED');
});

await t.test('each login has an id of its own, which the state does not know', async (test) => {
  const access = await createTestAccess(test);
  const [one, two] = [
    await access.openSession('admin', 'admin-secret', here),
    await access.openSession('admin', 'admin-secret', here),
  ];
  test.not(one.sessionId, two.sessionId);
  await access.closeSession(one.sessionId);
  await access.closeSession(one.sessionId);
  test.equal(await codeOf(access.authenticate({ kind: 'session', sessionId: one.sessionId }, here)), 'ACCESS_DENIED');
  test.equal(
    (await access.authenticate({ kind: 'session', sessionId: two.sessionId }, here)).username,
    'Admin',
    'the other one lives on',
  );
  const kept = await access.state.list('sessions/');
  test.equal(kept.length, 1);
  test.notMatch(JSON.stringify(kept), two.sessionId);
});

for (const [title, end] of [
  [
    'the password changes',
    (access: Awaited<ReturnType<typeof createTestAccess>>) =>
      access.setPassword(administrator, 'operator', { password: 'other-secret', old: undefined, ...here }),
  ],
  [
    'the user is disabled',
    (access: Awaited<ReturnType<typeof createTestAccess>>) => access.setEnabled(administrator, 'operator', false),
  ],
  [
    'the user is deleted',
    (access: Awaited<ReturnType<typeof createTestAccess>>) => access.deleteUser(administrator, 'operator'),
  ],
  [
    'the user is disabled and enabled again',
    async (access: Awaited<ReturnType<typeof createTestAccess>>) => {
      await access.setEnabled(administrator, 'operator', false);
      await access.setEnabled(administrator, 'operator', true);
    },
  ],
] as const) {
  await t.test(`sessions end, here and elsewhere, when ${title}`, async (test) => {
    const state = await createTestState(test);
    const [access, other] = [await createTestAccess(test, { state }), await createTestAccess(test, { state })];
    const { sessionId } = await access.openSession('operator', 'operator-secret', here);
    await other.authenticate({ kind: 'session', sessionId }, here);
    await end(access);
    test.equal(await codeOf(access.authenticate({ kind: 'session', sessionId }, here)), 'ACCESS_DENIED');
    await until(
      async () => (await codeOf(other.authenticate({ kind: 'session', sessionId }, here))) === 'ACCESS_DENIED',
    );
  });
}

await t.test('a deleted user who is made again finds no old session and no old token', async (test) => {
  const access = await createTestAccess(test);
  const { sessionId } = await access.openSession('operator', 'operator-secret', here);
  const { secret } = await access.createToken(administrator, 'operator', 'script', undefined);
  await access.deleteUser(administrator, 'operator');
  await access.createUser(administrator, 'operator', 'operator-secret', { roles: ['Administrator'] });
  test.equal(await codeOf(access.authenticate({ kind: 'session', sessionId }, here)), 'ACCESS_DENIED');
  test.equal(await codeOf(access.authenticate({ kind: 'token', token: secret }, here)), 'ACCESS_DENIED');
});

await t.test('use is noted in the state once a minute, not with each request', async (test) => {
  const inner = await createTestState(test);
  let puts = 0;
  const state: StateStore = {
    ...bound(inner),
    put: (key, value, expected) => {
      if (key.startsWith('sessions/')) puts += 1;
      return inner.put(key, value, expected);
    },
  };
  let time = Date.now();
  const access = await createTestAccess(test, { state, now: () => time });
  const { sessionId } = await access.openSession('admin', 'admin-secret', here);
  for (let minute = 0; minute < 5; minute += 1) {
    for (let second = 0; second < 60; second += 1) {
      time += 1_000;
      await access.authenticate({ kind: 'session', sessionId }, here);
    }
    const noted = time;
    await until(async () =>
      (await inner.list('sessions/')).some(({ value }) => (value as { used_at: number }).used_at === noted),
    );
  }
  test.equal(puts, 6, 'the login and five minutes');
  const later = await createTestAccess(test, { state: inner, now: () => time + 0.9 * hour });
  test.equal(
    (await later.authenticate({ kind: 'session', sessionId }, here)).username,
    'Admin',
    'another program, or the next start, knows of the use',
  );
});

await t.test('a session opened by a token or service account is none', async (test) => {
  const access = await createTestAccess(test);
  await access.createUser(administrator, 'robot', 'robot-secret', { serviceAccount: true, roles: ['Reader'] });
  test.equal(await codeOf(access.openSession('robot', 'robot-secret', here)), 'ACCESS_DENIED');
  test.equal((await access.authenticate(password('robot', 'robot-secret'), here)).username, 'robot');
});

await t.test(
  'tokens: shown once, kept as a hash, ended by their time, deletion and the end of the user',
  async (test) => {
    let time = Date.now();
    const access = await createTestAccess(test, { now: () => time });
    const admin = await access.authenticate(password('admin', 'admin-secret'), here);
    const { secret, id } = await access.createToken(admin, 'admin', 'ci', 60_000);
    test.match(secret, /^[a-z2-7]{52}$/);
    test.notMatch(JSON.stringify(await access.state.list('tokens/')), secret);
    test.match(await access.authenticate({ kind: 'token', token: secret }, here), { username: 'Admin', by: 'token' });
    test.equal(await codeOf(access.createToken(admin, 'admin', 'ci', 60_000)), 'ACCESS_NAME_TAKEN');
    test.match(await access.tokens(admin, 'admin'), [{ id, name: 'ci', expiresAt: time + 60_000 }]);
    time += 60_000;
    test.equal(await codeOf(access.authenticate({ kind: 'token', token: secret }, here)), 'ACCESS_DENIED');
    const forever = await access.createToken(admin, 'admin', 'forever', 0);
    time += 100 * 365 * 86_400_000;
    test.equal((await access.authenticate({ kind: 'token', token: forever.secret }, here)).by, 'token');
    await access.deleteToken(admin, 'admin', forever.secret);
    test.equal(await codeOf(access.authenticate({ kind: 'token', token: forever.secret }, here)), 'ACCESS_DENIED');
    test.equal(await codeOf(access.deleteToken(admin, 'admin', forever.id)), 'ACCESS_TOKEN_UNKNOWN');
  },
);

function bound(state: StateStore): StateStore {
  return {
    start: () => state.start(),
    stop: (deadline) => state.stop(deadline),
    get: (key) => state.get(key),
    put: (key, value, expected) => state.put(key, value, expected),
    list: (prefix) => state.list(prefix),
    delete: (key, expected) => state.delete(key, expected),
    watch: (prefix, onChange) => state.watch(prefix, onChange),
  };
}
