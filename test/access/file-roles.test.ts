/** Roles of rule files, and streams that somebody created: what access makes of both. */
import t from 'tap';
import type { FileRole } from '../../schemas/access.js';
import { administrator, codeOf, createTestAccess, createTestState, here, password, shippedStreams } from './support.js';

const team: FileRole = {
  id: 'Shop team',
  description: 'of the shop',
  read: ['system-logs'],
  edit: ['integration-logs'],
  capabilities: ['views:edit'],
  file: 'team.yaml',
};

t.test('a role of a file is given as any other, and refuses changes naming its file', async (t) => {
  const fileRoles = [team];
  const access = await createTestAccess(t, { fileRoles: () => fileRoles });
  t.match(access.role('SHOP TEAM'), {
    name: 'Shop team',
    description: 'of the shop',
    readOnly: true,
    origin: 'file',
    file: 'team.yaml',
  });
  await access.createUser(administrator, 'alice', 'alice-secret', { roles: ['shop team'] });
  const alice = await access.authenticate(password('alice', 'alice-secret'), here);
  t.same(
    [alice.roles, alice.scope.streams, alice.editableStreams, [...alice.capabilities]],
    [['Shop team'], ['system-logs', 'integration-logs'], ['integration-logs'], ['views:edit']],
  );
  const changes: readonly (() => Promise<unknown>)[] = [
    () => access.changeRole(administrator, 'shop team', { description: 'x' }),
    () => access.deleteRole(administrator, 'Shop Team'),
    () => access.createRole(administrator, 'shop TEAM', '', []),
  ];
  for (const change of changes) {
    t.equal(await codeOf(change), 'ACCESS_ROLE_OF_FILE');
    await t.rejects(change(), /team\.yaml/);
  }
  await access.createUser(administrator, 'bob', 'bob-secret', {});
  await access.addMember(administrator, 'Shop team', 'bob');
  t.same(
    access
      .members(administrator, 'shop team')
      .map(({ username }) => username)
      .sort(),
    ['alice', 'bob'],
  );
});

t.test('another file counts at once, in sessions that are open too', async (t) => {
  let fileRoles: readonly FileRole[] = [team];
  const access = await createTestAccess(t, { fileRoles: () => fileRoles });
  await access.createUser(administrator, 'alice', 'alice-secret', { roles: ['Shop team'] });
  const { sessionId } = await access.openSession('alice', 'alice-secret', here);
  const streams = async () => (await access.authenticate({ kind: 'session', sessionId }, here)).scope.streams;
  t.same(await streams(), ['system-logs', 'integration-logs']);
  fileRoles = [{ ...team, read: 'all', edit: [] }];
  t.equal(await streams(), 'all');
  t.same(
    (await access.authenticate({ kind: 'session', sessionId }, here)).scope.except,
    ['audit-logs'],
    'all is never Audit logs',
  );
  fileRoles = [];
  t.same(await streams(), [], 'a role that is gone opens nothing');
  fileRoles = [team];
  t.same(await streams(), ['system-logs', 'integration-logs'], 'one that comes back finds its members');
});

t.test('a role that is made after one of its name stood in a file begins without members', async (t) => {
  let fileRoles: readonly FileRole[] = [team];
  const access = await createTestAccess(t, { fileRoles: () => fileRoles });
  await access.createUser(administrator, 'alice', 'alice-secret', { roles: ['Shop team', 'Reader'] });
  fileRoles = [];
  await access.createRole(administrator, 'shop team', '', ['streams:read']);
  t.same(access.members(administrator, 'Shop team'), []);
  t.same((await access.authenticate(password('alice', 'alice-secret'), here)).roles, ['Reader']);
  fileRoles = [team];
  t.match(access.role('shop team'), { origin: 'file' }, 'of two with one name that of the file counts');
  t.equal(access.roles().filter(({ name }) => name.toLowerCase() === 'shop team').length, 1);
});

t.test('nobody gives a role of a file whose rights are not held', async (t) => {
  const fileRoles = [team];
  const access = await createTestAccess(t, { fileRoles: () => fileRoles });
  await access.createRole(administrator, 'clerk', '', ['users:edit', 'streams:read:system-logs']);
  await access.createUser(administrator, 'clerk', 'clerk-secret', { roles: ['clerk'] });
  await access.createUser(administrator, 'alice', 'alice-secret', {});
  const clerk = await access.authenticate(password('clerk', 'clerk-secret'), here);
  t.equal(await codeOf(access.addMember(clerk, 'Shop team', 'alice')), 'ACCESS_FORBIDDEN');
  t.equal(await codeOf(access.changeUser(clerk, 'clerk', { roles: ['clerk', 'Shop team'] })), 'ACCESS_FORBIDDEN');
});

t.test('who created a stream reads and edits it for as long as it is there, whatever the roles say', async (t) => {
  const state = await createTestState(t);
  let owners: readonly { readonly stream: string; readonly userId: string }[] = [];
  const streams = [...shippedStreams, { id: 'own', title: 'Own' }];
  const access = await createTestAccess(t, { state, owners: () => owners, streams: () => streams });
  await access.createUser(administrator, 'alice', 'alice-secret', {});
  await access.createUser(administrator, 'bob', 'bob-secret', {});
  const identity = (name: string) => access.authenticate(password(name, `${name}-secret`), here);
  owners = [{ stream: 'own', userId: (await identity('alice')).userId }];
  t.same([(await identity('alice')).scope.streams, (await identity('alice')).editableStreams], [['own'], ['own']]);
  t.same((await identity('bob')).scope.streams, []);
  await access.deleteUser(administrator, 'alice');
  await access.createUser(administrator, 'alice', 'alice-secret', {});
  t.same((await identity('alice')).scope.streams, [], 'another user of the same name is another one');
  owners = [{ stream: 'audit-logs', userId: (await identity('bob')).userId }];
  t.same(
    (await identity('bob')).scope,
    { streams: [], except: ['audit-logs'], deadLetters: false },
    "Audit logs are nobody's own",
  );
});
