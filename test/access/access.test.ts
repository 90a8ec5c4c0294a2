import t from 'tap';
import { apiIdOf } from '../../core/object-ids.js';
import type { FirstPassword } from '../../access/contract.js';
import {
  codeOf,
  createTestAccess,
  createTestState,
  hashesOf,
  here,
  password,
  until,
  administrator,
} from './support.js';

await t.test(
  'the first start makes the users of the specification, with passwords that are told once',
  async (test) => {
    const state = await createTestState(test);
    const told: FirstPassword[][] = [];
    const settings = { first_passwords: { admin: '', operator: 'set-in-settings', audit_viewer: '' } };
    const access = await createTestAccess(test, {
      state,
      settings,
      onFirstPasswords: (made) => void told.push([...made]),
    });
    test.same(
      told[0]?.map(({ username }) => username),
      ['Admin', 'Operator', 'AuditViewer'],
    );
    const [admin, operator, viewer] = told[0] ?? [];
    test.equal(operator?.password, undefined, 'a password of the settings is not shown');
    for (const generated of [admin, viewer]) test.match(generated?.password, /^[A-Za-z0-9]{20}$/);
    test.same(
      (await access.authenticate(password('admin', admin?.password ?? ''), here)).roles,
      ['Administrator'],
      'names are compared in any case',
    );
    test.same((await access.authenticate(password('OPERATOR', 'set-in-settings'), here)).roles, ['Reader', 'Operator']);
    test.same((await access.authenticate(password('AuditViewer', viewer?.password ?? ''), here)).roles, [
      'Reader',
      'AuditViewer',
    ]);
    const again = await createTestAccess(test, {
      state,
      settings,
      onFirstPasswords: (made) => void told.push([...made]),
    });
    test.equal(told.length, 1, 'nothing is made at the second start');
    test.equal(await codeOf(again.authenticate(password('admin', 'admin'), here)), 'ACCESS_DENIED');
    for (const entry of await state.list('users/'))
      test.match((entry.value as { password_hash: string }).password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  },
);

await t.test('a user who was deleted does not come back with the next start', async (test) => {
  const state = await createTestState(test);
  const access = await createTestAccess(test, { state });
  await access.deleteUser(administrator, 'Operator');
  const again = await createTestAccess(test, { state });
  test.same(
    again
      .users(administrator)
      .map(({ username }) => username)
      .sort(),
    ['Admin', 'AuditViewer'],
  );
});

await t.test('two programs that start at once make each user once', async (test) => {
  const state = await createTestState(test);
  const told: FirstPassword[] = [];
  const settings = { first_passwords: { admin: '', operator: '', audit_viewer: '' } };
  const [one] = await Promise.all(
    [1, 2].map(() => createTestAccess(test, { state, settings, onFirstPasswords: (made) => void told.push(...made) })),
  );
  test.same(told.map(({ username }) => username).sort(), ['Admin', 'AuditViewer', 'Operator']);
  for (const { username, password: text } of told)
    test.equal((await one?.authenticate(password(username, text ?? ''), here))?.username, username);
});

await t.test('a first password that is the name of the user is refused at the start', async (test) => {
  test.equal(
    await codeOf(
      createTestAccess(test, {
        settings: { first_passwords: { admin: 'ADMIN', operator: '', audit_viewer: '' }, minimum_password_length: 1 },
      }),
    ),
    'ACCESS_PASSWORD_INVALID',
  );
});

await t.test('one answer for unknown names, wrong and empty passwords and ended sessions', async (test) => {
  const access = await createTestAccess(test);
  for (const credentials of [
    password('nobody', 'secret'),
    password('admin', 'wrong'),
    password('admin', ''),
    password('', ''),
    password('admin', 'x'.repeat(5_000)),
    { kind: 'session', sessionId: 'unknown' } as const,
    { kind: 'token', token: 'unknown' } as const,
  ])
    test.equal(await codeOf(access.authenticate(credentials, here)), 'ACCESS_DENIED');
});

await t.test('an unknown name costs one hash, like a wrong password', async (test) => {
  const access = await createTestAccess(test);
  const before = await hashesOf(access.registry);
  await codeOf(access.authenticate(password('nobody', 'secret'), here));
  const between = await hashesOf(access.registry);
  await codeOf(access.authenticate(password('admin', 'wrong'), here));
  test.same([between - before, (await hashesOf(access.registry)) - between], [1, 1]);
});

await t.test(
  'a password that comes with every request is hashed once a minute, and again when it changes',
  async (test) => {
    let time = Date.now();
    const access = await createTestAccess(test, { now: () => time });
    await Promise.all(Array.from({ length: 20 }, () => access.authenticate(password('admin', 'admin-secret'), here)));
    const once = await hashesOf(access.registry);
    test.equal(once, 4, 'three first passwords and one check for twenty requests at once');
    for (let request = 0; request < 20; request += 1)
      await access.authenticate(password('Admin', 'admin-secret'), here);
    test.equal(await hashesOf(access.registry), once);
    time += 60_001;
    await access.authenticate(password('admin', 'admin-secret'), here);
    test.equal(await hashesOf(access.registry), once + 1);
    await access.setPassword(administrator, 'admin', { password: 'another-secret', old: undefined, ...here });
    test.equal(await codeOf(access.authenticate(password('admin', 'admin-secret'), here)), 'ACCESS_DENIED');
    test.equal((await access.authenticate(password('admin', 'another-secret'), here)).username, 'Admin');
  },
);

await t.test(
  'roles that ship: a deployer that writes what they have already is not refused, and changes nothing',
  async (test) => {
    const access = await createTestAccess(test);
    const audit = apiIdOf('audit-logs');
    for (const [name, permissions] of [
      [
        'operator',
        [
          'streams:read:all-messages',
          'streams:read:000000000000000000000001',
          'dashboards:read:5f1f6a2b3c4d5e6f7a8b9c0d',
          'system:read',
        ],
      ],
      ['AuditViewer', [`streams:read:${audit}`, 'streams:read:all-messages', 'audit:read']],
      ['Reader', []],
    ] as const) {
      const before = access.role(name);
      test.same(
        await access.changeRole(administrator, name, { permissions, description: 'as I know it' }),
        before,
        name,
      );
      test.same(access.role(name), before);
    }
    for (const [name, change] of [
      ['Operator', { permissions: [`streams:read:${audit}`] }],
      ['Operator', { permissions: ['streams:edit:all-messages'] }],
      ['Operator', { permissions: ['users:edit'] }],
      ['Reader', { permissions: ['streams:read:all-messages'] }],
      ['Reader', { name: 'Readers' }],
    ] as const) {
      test.ok(
        ['ACCESS_READ_ONLY', 'ACCESS_VALUE_INVALID'].includes(
          (await codeOf(access.changeRole(administrator, name, change))) ?? '',
        ),
        `${name} ${JSON.stringify(change)}`,
      );
    }
  },
);

await t.test('the role Admin of the peer is Administrator, given by those who may', async (test) => {
  const access = await createTestAccess(test);
  await access.createUser(administrator, 'robot', 'robot-secret', { roles: ['Admin'] });
  const robot = await access.authenticate(password('robot', 'robot-secret'), here);
  test.same([robot.roles, robot.administrator], [['Administrator'], true]);
  await access.createRole(administrator, 'Helpers', '', ['users:edit']);
  await access.createUser(administrator, 'helper', 'helper-secret', { roles: ['Helpers'] });
  const helper = await access.authenticate(password('helper', 'helper-secret'), here);
  test.equal(
    await codeOf(access.createUser(helper, 'mallory', 'mallory-secret', { roles: ['Admin'] })),
    'ACCESS_FORBIDDEN',
  );
});

await t.test('a change in one program is seen by another within about a second', async (test) => {
  const state = await createTestState(test);
  const [one, two] = [await createTestAccess(test, { state }), await createTestAccess(test, { state })];
  await one.createUser(administrator, 'carol', 'carol-secret', { roles: ['Reader'] });
  const { sessionId } = await one.openSession('carol', 'carol-secret', here);
  test.same(
    (await two.authenticate({ kind: 'session', sessionId }, here)).roles,
    ['Reader'],
    'a user made a moment ago is looked for',
  );
  await one.changeUser(administrator, 'carol', { roles: ['Reader', 'Operator'] });
  await until(async () => (await two.authenticate({ kind: 'session', sessionId }, here)).scope.streams === 'all');
  await one.setEnabled(administrator, 'carol', false);
  await until(async () => (await codeOf(two.authenticate({ kind: 'session', sessionId }, here))) === 'ACCESS_DENIED');
});
