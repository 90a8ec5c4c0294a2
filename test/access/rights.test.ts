/** The matrix: roles by streams, by capabilities, and by what may be done to users and roles. */
import t from 'tap';
import { allCapabilities } from '../../schemas/access.js';
import { apiIdOf } from '../../core/object-ids.js';
import { mayEditStream, mayReadStream, type Capability, type Identity } from '../../schemas/access.js';
import {
  administrator,
  codeOf,
  createTestAccess,
  createTestState,
  here,
  password,
  shippedStreams,
  type TestAccess,
} from './support.js';

const streams = shippedStreams.map(({ id }) => id);

interface Row {
  readonly roles: readonly string[];
  readonly reads: readonly string[];
  readonly edits: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly deadLetters: boolean;
  /** A message that is in Audit logs and in a stream that may be read. */
  readonly seesAuditInOther: boolean;
}

const allBut = (...without: string[]): readonly string[] => streams.filter((id) => !without.includes(id));
const common: readonly Capability[] = ['views:edit', 'system:read'];
const rows: Readonly<Record<string, Row>> = {
  nothing: { roles: [], reads: [], edits: [], capabilities: [], deadLetters: false, seesAuditInOther: false },
  reader: {
    roles: ['Reader'],
    reads: [],
    edits: [],
    capabilities: common,
    deadLetters: false,
    seesAuditInOther: false,
  },
  operator: {
    roles: ['Reader', 'Operator'],
    reads: allBut('audit-logs'),
    edits: [],
    capabilities: common,
    deadLetters: false,
    seesAuditInOther: false,
  },
  operatorAlone: {
    roles: ['OPERATOR'],
    reads: allBut('audit-logs'),
    edits: [],
    capabilities: common,
    deadLetters: false,
    seesAuditInOther: false,
  },
  auditViewer: {
    roles: ['Reader', 'AuditViewer'],
    reads: streams,
    edits: [],
    capabilities: [...common, 'audit:read'],
    deadLetters: false,
    seesAuditInOther: true,
  },
  administrator: {
    roles: ['Administrator'],
    reads: streams,
    edits: streams,
    capabilities: allCapabilities,
    deadLetters: true,
    seesAuditInOther: true,
  },
  systemOnly: {
    roles: ['System readers'],
    reads: ['system-logs'],
    edits: [],
    capabilities: [],
    deadLetters: false,
    seesAuditInOther: false,
  },
  editor: {
    roles: ['Reader', 'Integration editors'],
    reads: ['integration-logs'],
    edits: ['integration-logs'],
    capabilities: [...common, 'outputs:edit'],
    deadLetters: false,
    seesAuditInOther: false,
  },
  everything: {
    roles: ['Reader', 'Operator', 'AuditViewer', 'System readers', 'Integration editors'],
    reads: streams,
    edits: ['integration-logs'],
    capabilities: [...common, 'audit:read', 'outputs:edit'],
    deadLetters: false,
    seesAuditInOther: true,
  },
};

async function createPeople(access: TestAccess): Promise<Readonly<Record<string, Identity>>> {
  await access.createRole(administrator, 'System readers', '', [
    `streams:read:${apiIdOf('system-logs')}`,
    'dashboards:read:5a2b',
  ]);
  await access.createRole(administrator, 'Integration editors', '', ['streams:edit:integration-logs', 'outputs:edit']);
  const people: Record<string, Identity> = {};
  for (const [name, { roles }] of Object.entries(rows)) {
    await access.createUser(administrator, `the-${name}`, `${name}-secret`, { roles });
    people[name] = await access.authenticate(password(`the-${name}`, `${name}-secret`), here);
  }
  return people;
}

await t.test('roles by streams and capabilities', async (test) => {
  const people = await createPeople(await createTestAccess(test));
  for (const [name, row] of Object.entries(rows)) {
    const identity = people[name] as Identity;
    test.same(
      streams.filter((id) => mayReadStream(identity.scope, id)),
      row.reads,
      `${name} reads`,
    );
    test.same(
      streams.filter((id) => mayEditStream(identity, id)),
      row.edits,
      `${name} edits`,
    );
    test.same([...identity.capabilities].sort(), [...row.capabilities].sort(), `${name} may`);
    test.equal(identity.scope.deadLetters, row.deadLetters, `${name} and dead letters`);
    test.equal(
      identity.scope.except.includes('audit-logs'),
      !row.seesAuditInOther,
      `${name} and a message in two streams`,
    );
    test.equal(identity.administrator, name === 'administrator');
  }
});

await t.test('roles by actions on users, roles and tokens', async (test) => {
  const access = await createTestAccess(test);
  const people = await createPeople(access);
  await access.createRole(administrator, 'User keepers', '', ['users:edit', 'roles:edit', 'views:edit', 'system:read']);
  await access.createUser(administrator, 'keeper', 'keeper-secret', { roles: ['User keepers'] });
  const keeper = await access.authenticate(password('keeper', 'keeper-secret'), here);
  const actions: Readonly<Record<string, (by: Identity) => unknown>> = {
    'reads another user': (by) => access.user(by, 'AuditViewer'),
    'reads an unknown user': (by) => access.user(by, 'nobody'),
    'creates a user': (by) => access.createUser(by, `new-${by.username}`, 'some-secret', {}),
    'changes another user': (by) => access.changeUser(by, 'the-nothing', { email: 'x@example.org' }),
    'sets the password of another': (by) =>
      access.setPassword(by, 'the-nothing', { password: 'other-secret', old: undefined, ...here }),
    'lists the tokens of another': (by) => access.tokens(by, 'the-nothing'),
    'creates a role': (by) => access.createRole(by, `role of ${by.username}`, '', []),
    'gives oneself Administrator': (by) => access.changeUser(by, by.username, { roles: ['Administrator'] }),
    'makes an administrator': (by) =>
      access.createUser(by, `boss-${by.username}`, 'some-secret', { roles: ['Administrator'] }),
    'makes a role with more rights': (by) => access.createRole(by, `more of ${by.username}`, '', ['streams:read']),
    'sets the password of an administrator': (by) =>
      access.setPassword(by, 'the-administrator', { password: 'other-secret', old: undefined, ...here }),
    'makes a token of an administrator': (by) =>
      access.createToken(by, 'the-administrator', `of-${by.username}`, undefined),
    'adds a member to Administrator': (by) => access.addMember(by, 'Administrator', by.username),
    'disables an administrator': (by) => access.setEnabled(by, 'Admin', false),
    'reads the directory': (by) => access.directory(by),
  };
  const keeperMay = new Set([
    'reads another user',
    'reads an unknown user',
    'creates a user',
    'changes another user',
    'sets the password of another',
    'lists the tokens of another',
    'creates a role',
  ]);
  for (const [action, run] of Object.entries(actions)) {
    for (const name of ['nothing', 'reader', 'operator', 'auditViewer', 'editor'] as const) {
      const own =
        name === 'nothing' &&
        /nothing|tokens of another|another user$|password of another/.test(action) &&
        !/reads/.test(action);
      if (!own)
        test.equal(await codeOf(async () => run(people[name] as Identity)), 'ACCESS_FORBIDDEN', `${name} ${action}`);
    }
    const code = await codeOf(async () => run(keeper));
    if (keeperMay.has(action)) test.not(code, 'ACCESS_FORBIDDEN', `keeper ${action}`);
    else test.equal(code, 'ACCESS_FORBIDDEN', `keeper ${action}`);
  }
  test.same(
    access.users(people['operator'] as Identity).map(({ username }) => username),
    ['the-operator'],
    'who may not edit users sees oneself',
  );
});

await t.test('no role opens what is kept for administrators', async (test) => {
  const access = await createTestAccess(test);
  for (const permission of [
    `streams:read:${apiIdOf('audit-logs')}`,
    'streams:read:audit-logs',
    'streams:edit:audit-logs',
    '*',
    'streams:*',
    'streams:edit',
    'streams:edit:*',
    'dead-letters',
    'audit:read',
    'streams:read:no-such-stream',
    'a b',
    '',
    'x'.repeat(300),
  ])
    test.equal(
      await codeOf(access.createRole(administrator, 'Anything', '', [permission])),
      'ACCESS_VALUE_INVALID',
      permission.slice(0, 40),
    );
});

await t.test('a stream that comes later is opened by the id that a role already names', async (test) => {
  let streamsNow = shippedStreams;
  const access = await createTestAccess(test, { streams: () => streamsNow });
  await access.createRole(administrator, 'Later', '', [`streams:read:${apiIdOf('shop-logs')}`]);
  await access.createUser(administrator, 'eve', 'eve-secret', { roles: ['Later'] });
  const scope = async () => (await access.authenticate(password('eve', 'eve-secret'), here)).scope;
  test.notOk(mayReadStream(await scope(), 'shop-logs'));
  streamsNow = [...shippedStreams, { id: 'shop-logs', title: 'Shop' }];
  test.ok(mayReadStream(await scope(), 'shop-logs'));
});

await t.test('rights are made once for each change, not for each request', async (test) => {
  const access = await createTestAccess(test);
  const scope = async () => (await access.authenticate(password('operator', 'operator-secret'), here)).scope;
  const first = await scope();
  test.equal(await scope(), first);
  await access.changeUser(administrator, 'operator', { roles: ['Reader'] });
  test.not(await scope(), first);
});

await t.test('the last administrator stays one, in every way to lose it', async (test) => {
  const access = await createTestAccess(test);
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    delete: () => access.deleteUser(administrator, 'Admin'),
    disable: () => access.setEnabled(administrator, 'admin', false),
    'change of roles': () => access.changeUser(administrator, 'admin', { roles: ['Reader'] }),
    'removal from the role': () => access.removeMember(administrator, 'administrator', 'Admin'),
  };
  for (const [way, run] of Object.entries(ways)) test.equal(await codeOf(run()), 'ACCESS_LAST_ADMINISTRATOR', way);
  await access.createUser(administrator, 'second', 'second-secret', { roles: ['Administrator'] });
  const outcomes = await Promise.all([
    codeOf(access.deleteUser(administrator, 'Admin')),
    codeOf(access.removeMember(administrator, 'Administrator', 'second')),
  ]);
  test.same(outcomes.sort(), ['ACCESS_LAST_ADMINISTRATOR', 'none'], 'two removals at once leave one');
});

await t.test(
  'names are compared in any case, roles that ship are read-only, deleted roles leave their members',
  async (test) => {
    const access = await createTestAccess(test);
    test.equal(await codeOf(access.createUser(administrator, 'ADMIN', 'some-secret', {})), 'ACCESS_NAME_TAKEN');
    for (const name of ['', ' a', 'a ', 'a:b', 'a/b', 'a\nb', 'x'.repeat(101), 'a'.repeat(24), '\u202eabc'])
      test.equal(
        await codeOf(access.createUser(administrator, name, 'some-secret', {})),
        'ACCESS_VALUE_INVALID',
        JSON.stringify(name.slice(0, 30)),
      );
    for (const [text, code] of [
      ['short', 'ACCESS_PASSWORD_INVALID'],
      ['ZED-THE-USER', 'ACCESS_PASSWORD_INVALID'],
      ['session', 'ACCESS_PASSWORD_INVALID'],
      ['x'.repeat(1_025), 'ACCESS_PASSWORD_INVALID'],
      ['long enough', 'none'],
    ] as const) {
      test.equal(await codeOf(access.createUser(administrator, 'zed-the-user', text, {})), code);
    }
    test.equal(await codeOf(access.createRole(administrator, 'READER', '', [])), 'ACCESS_NAME_TAKEN');
    for (const name of ['administrator', 'Reader', 'OPERATOR', 'auditviewer']) {
      test.equal(await codeOf(access.changeRole(administrator, name, { description: 'x' })), 'ACCESS_READ_ONLY');
      test.equal(await codeOf(access.deleteRole(administrator, name)), 'ACCESS_READ_ONLY');
    }
    await access.createRole(administrator, 'Team', 'a team', ['streams:read:system-logs']);
    await access.addMember(administrator, 'TEAM', 'zed-the-USER');
    test.same(
      access.members(administrator, 'team').map(({ username }) => username),
      ['zed-the-user'],
    );
    await access.deleteRole(administrator, 'team');
    await access.createRole(administrator, 'Team', 'another', []);
    test.same(access.members(administrator, 'team'), []);
    test.equal(await codeOf(() => access.role('nothing')), 'ACCESS_ROLE_UNKNOWN');
  },
);

await t.test("one's own password needs the old one", async (test) => {
  const access = await createTestAccess(test, { state: await createTestState(test) });
  const admin = await access.authenticate(password('admin', 'admin-secret'), here);
  test.equal(
    await codeOf(access.setPassword(admin, 'Admin', { password: 'next-secret', old: undefined, ...here })),
    'ACCESS_OLD_PASSWORD_WRONG',
    'of an administrator too',
  );
  test.equal(
    await codeOf(access.setPassword(admin, admin.userId, { password: 'next-secret', old: 'wrong', ...here })),
    'ACCESS_OLD_PASSWORD_WRONG',
  );
  test.equal(
    await codeOf(access.setPassword(admin, admin.userId, { password: 'next-secret', old: 'admin-secret', ...here })),
    'none',
    'the id in place of the name',
  );
  test.equal(
    await codeOf(access.setPassword(admin, 'operator', { password: 'other-secret', old: undefined, ...here })),
    'none',
  );
  test.equal(
    await codeOf(access.setPassword(admin, 'nobody', { password: 'other-secret', old: undefined, ...here })),
    'ACCESS_USER_UNKNOWN',
  );
  test.equal((await access.authenticate(password('admin', 'next-secret'), here)).username, 'Admin');
});
