import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { silentLog } from '../../core/log.js';
import type { Attempt, Throttle } from '../../access/authentication/throttle.js';
import type { LdapOptions } from '../../schemas/config/ldap.js';
import { createCertificates } from '../receivers/certificates.js';
import { createSlapd, directoryPassword, directorySearch, slapdMissing, type Slapd } from './slapd.js';
import {
  administrator,
  codeOf,
  createTestAccess,
  createTestState,
  hashesOf,
  here,
  password,
  shippedStreams,
  until,
  type TestAccess,
} from './support.js';

const base: Partial<LdapOptions> & Pick<LdapOptions, 'role_mapping'> = {
  ...directorySearch,
  role_mapping: [
    { group: 'LOG ADMINS', roles: ['administrator'] },
    { group: 'log-readers-*', roles: ['Reader', 'Unknown role'] },
  ],
  stream_mapping: [
    { group: 'cn=log-readers-eu,ou=groups,*', streams: ['system LOGS', 'application-logs/manage', 'Audit logs'] },
  ],
  timeout_ms: 5_000,
};

const slow = { skip: slapdMissing };
if (slapdMissing !== false) t.comment(slapdMissing);
/** Without slapd nothing below runs, and none are made. */
const certificates =
  slapdMissing === false ? createCertificates(t) : { authority: { cert: '', key: '' }, server: { cert: '', key: '' } };

async function withSlapd(
  test: Test,
  change: Partial<LdapOptions> | ((slapd: Slapd) => Partial<LdapOptions>) = {},
): Promise<{ slapd: Slapd; access: TestAccess }> {
  const slapd = await createSlapd(test, certificates);
  const access = await createTestAccess(test, {
    settings: { ldap: { ...base, urls: [slapd.url], ...(typeof change === 'function' ? change(slapd) : change) } },
  });
  return { slapd, access };
}

async function callsOf(access: TestAccess): Promise<number> {
  const metric = await access.registry.getSingleMetric('sluice_directory_logins_total')?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

await t.test(
  'users of the directory log in, with roles of the first group that fits and streams of all',
  slow,
  async (test) => {
    const { access } = await withSlapd(test);
    const bob = await access.authenticate(password('Bob', 'bob-secret'), here);
    test.same([bob.username, bob.roles, bob.administrator], ['bob', ['Reader'], false]);
    test.same(
      bob.scope,
      { streams: ['system-logs', 'application-logs'], except: ['audit-logs'], deadLetters: false },
      'the stream Audit logs is not given by a mapping',
    );
    test.same(bob.editableStreams, ['application-logs']);
    const alice = await access.authenticate(password('alice', 'alice-secret'), here);
    test.ok(alice.administrator, 'the order of the settings decides, not the order of the groups');
    const record = access.user(administrator, 'bob');
    test.match(record, { external: true, firstName: 'Bob', lastName: 'Example', email: 'bob@example.org' });
    test.equal(
      await codeOf(access.setPassword(administrator, 'bob', { password: 'new-secret', old: undefined, ...here })),
      'ACCESS_READ_ONLY',
    );
    test.equal(await codeOf(access.changeUser(administrator, 'bob', { roles: ['Administrator'] })), 'ACCESS_READ_ONLY');
    for (const change of [{ email: 'bob@elsewhere.org' }, { firstName: 'Robert' }, { lastName: '' }])
      test.equal(
        await codeOf(access.changeUser(administrator, 'bob', change)),
        'ACCESS_READ_ONLY',
        JSON.stringify(change),
      );
    test.match(
      await access.changeUser(administrator, 'bob', {
        email: 'bob@example.org',
        firstName: 'Bob',
        lastName: 'Example',
        roles: ['Reader'],
        timezone: 'Europe/Berlin',
      }),
      { email: 'bob@example.org', lastName: 'Example', timezone: 'Europe/Berlin' },
      'a whole user that is sent back',
    );
    test.equal(
      await codeOf(access.authenticate(password('carol', 'carol-secret'), here)),
      'ACCESS_DENIED',
      'no group that fits and no default role',
    );
  },
);

await t.test('wrong, empty and unknown are denied, and a name is never a filter', slow, async (test) => {
  const { access } = await withSlapd(test);
  for (const [name, text] of [
    ['bob', 'wrong'],
    ['bob', ''],
    ['nobody', 'secret'],
    ['*', 'bob-secret'],
    ['*)(uid=*', 'bob-secret'],
    ['bob)(|(uid=*', 'bob-secret'],
    ['b*b', 'bob-secret'],
    ['bob\0', 'bob-secret'],
    ['elsewhere', 'secret'],
    ['\\', 'x'],
    ['x'.repeat(5_000), 'x'],
  ] as const) {
    test.equal(
      await codeOf(access.authenticate(password(name, text), here)),
      'ACCESS_DENIED',
      JSON.stringify(name.slice(0, 20)),
    );
  }
});

await t.test(
  'local users come first: no call for them, and they log in while the directory is down',
  slow,
  async (test) => {
    const { slapd, access } = await withSlapd(test);
    test.ok((await access.authenticate(password('admin', 'admin-secret'), here)).administrator);
    test.equal(await codeOf(access.authenticate(password('ADMIN', 'admin-wrong'), here)), 'ACCESS_DENIED');
    test.equal(await callsOf(access), 0, 'not even with a wrong password');
    await access.authenticate(password('bob', 'bob-secret'), here);
    test.equal(await callsOf(access), 1);
    for (let request = 0; request < 10; request += 1) await access.authenticate(password('bob', 'bob-secret'), here);
    const { sessionId } = await access.openSession('bob', 'bob-secret', here);
    await slapd.stop();
    for (let request = 0; request < 10; request += 1) await access.authenticate({ kind: 'session', sessionId }, here);
    test.equal(
      await callsOf(access),
      1,
      'one call a login: later requests of the same minute and of the session need none',
    );
    test.equal((await access.authenticate(password('operator', 'operator-secret'), here)).username, 'Operator');
    test.equal(await codeOf(access.openSession('alice', 'alice-secret', here)), 'ACCESS_DIRECTORY_UNAVAILABLE');
    await slapd.start();
    test.equal((await access.openSession('alice', 'alice-secret', here)).username, 'alice');
  },
);

await t.test('a name of the directory that is a local one is not let in as the local user', slow, async (test) => {
  const { access } = await withSlapd(test, { search_filter: '(|(uid={user})(mail={user}))' });
  test.equal(await codeOf(access.authenticate(password('admin@example.org', 'admin-secret'), here)), 'ACCESS_DENIED');
  test.equal((await access.authenticate(password('bob@example.org', 'bob-secret'), here)).username, 'bob');
});

await t.test('groups of an attribute of the user, any case, are as good as searched ones', slow, async (test) => {
  const { access } = await withSlapd(test, { group_attribute: 'SEEALSO', group_search_base: '' });
  test.ok((await access.authenticate(password('bob', 'bob-secret'), here)).administrator);
  test.equal(
    await codeOf(access.authenticate(password('alice', 'alice-secret'), here)),
    'ACCESS_DENIED',
    'who has no such attribute has no role',
  );
});

await t.test('a change in the directory counts at the next login', slow, async (test) => {
  let time = Date.now();
  const slapd = await createSlapd(test, certificates);
  const state = await createTestState(test);
  const access = await createTestAccess(test, {
    state,
    now: () => time,
    settings: { ldap: { ...base, urls: [slapd.url] } },
  });
  test.ok((await access.authenticate(password('alice', 'alice-secret'), here)).administrator);
  const later = await createTestAccess(test, {
    state,
    now: () => time,
    settings: { ldap: { ...base, urls: [slapd.url], role_mapping: [{ group: '*', roles: ['Reader'] }] } },
  });
  time += 61_000;
  test.notOk((await later.authenticate(password('alice', 'alice-secret'), here)).administrator);
});

for (const [title, change] of [
  ['ldaps with an authority of its own', (slapd: Slapd) => ({ urls: [slapd.secureUrl], ca_file: slapd.caFile })],
  ['StartTLS', (slapd: Slapd) => ({ start_tls: true, ca_file: slapd.caFile })],
  [
    'ldaps without a check of the certificate',
    (slapd: Slapd) => ({ urls: [slapd.secureUrl], reject_unauthorized: false }),
  ],
  ['a second server when the first is away', (slapd: Slapd) => ({ urls: ['ldap://127.0.0.1:1', slapd.url] })],
] as const) {
  await t.test(`login over ${title}`, slow, async (test) => {
    const { access } = await withSlapd(test, change);
    test.equal((await access.authenticate(password('bob', 'bob-secret'), here)).username, 'bob');
    test.equal(await codeOf(access.authenticate(password('bob', 'wrong'), here)), 'ACCESS_DENIED');
  });
}

await t.test('a certificate that cannot be verified is refused before a password is sent', slow, async (test) => {
  const { slapd, access } = await withSlapd(test, { start_tls: true });
  test.equal(await codeOf(access.authenticate(password('bob', 'bob-secret'), here)), 'ACCESS_DIRECTORY_UNAVAILABLE');
  const localhost = (url: string): string => url.replace('127.0.0.1', 'localhost.localdomain');
  const otherName = await access.testConnection(administrator, {
    ...base,
    urls: [localhost(slapd.secureUrl)],
    ca_file: slapd.caFile,
  });
  test.notOk(otherName.success, 'a certificate for another name');
});

await t.test('a server that is silent, or hangs up in the middle, is one that is not available', slow, async (test) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  test.teardown(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const url = `ldap://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  for (const start_tls of [false, true]) {
    const access = await createTestAccess(test, {
      settings: { ldap: { ...base, urls: [url], timeout_ms: 200, start_tls } },
    });
    test.equal(await codeOf(access.authenticate(password('bob', 'bob-secret'), here)), 'ACCESS_DIRECTORY_UNAVAILABLE');
  }
});

await t.test('after StartTLS was agreed, a cut connection is not opened again in plain text', slow, async (test) => {
  const slapd = await createSlapd(test, certificates);
  const heard: Buffer[] = [];
  const relay = createServer((socket) => {
    const onward = connect(Number(new URL(slapd.url).port), '127.0.0.1');
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => void heard.push(bytes))
      .pipe(onward.on('error', () => undefined));
    onward.once('data', (bytes: Buffer) => socket.write(bytes, () => socket.destroy()));
    socket.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  test.teardown(() => void relay.close());
  const access = await createTestAccess(test, {
    settings: {
      ldap: {
        ...base,
        urls: [`ldap://127.0.0.1:${(relay.address() as AddressInfo).port}`],
        start_tls: true,
        ca_file: slapd.caFile,
        timeout_ms: 1_000,
      },
    },
  });
  test.equal(await codeOf(access.authenticate(password('bob', 'bob-secret'), here)), 'ACCESS_DIRECTORY_UNAVAILABLE');
  const all = Buffer.concat(heard).toString('latin1');
  test.notMatch(all, /bob-secret|directory-secret/);
});

await t.test(
  'the directory is set and tried by an administrator, and its password never comes back',
  slow,
  async (test) => {
    const slapd = await createSlapd(test, certificates);
    const state = await createTestState(test);
    const [access, other] = [await createTestAccess(test, { state }), await createTestAccess(test, { state })];
    const before = await hashesOf(access.registry);
    test.equal(await codeOf(access.authenticate(password('bob', 'bob-secret'), here)), 'ACCESS_DENIED');
    test.equal(await hashesOf(access.registry), before + 1);
    const set = await access.setDirectory(administrator, {
      ...base,
      role_mapping: [{ group: 'log-readers-*', roles: ['Reader'] }],
      stream_mapping: [],
      urls: [slapd.url],
    });
    test.match(set, { fromFile: false, passwordSet: true });
    test.notMatch(JSON.stringify([set, await access.directory(administrator)]), directoryPassword);
    test.equal((await access.authenticate(password('bob', 'bob-secret'), here)).username, 'bob');
    await until(async () => (await codeOf(other.authenticate(password('bob', 'bob-secret'), here))) === 'none');
    test.ok((await access.testConnection(administrator)).success);
    test.match(await access.testLogin(administrator, 'bob', 'bob-secret'), {
      success: true,
      user: { dn: 'uid=bob,ou=people,dc=example,dc=org', groups: ['cn=log-readers-eu,ou=groups,dc=example,dc=org'] },
      roles: ['reader'],
    });
    test.match(await access.testLogin(administrator, 'bob', 'wrong'), { success: false });
    test.match(await access.testLogin(administrator, 'carol', 'carol-secret'), { success: false, message: /no role/ });
    test.match(await access.testLogin(administrator, 'admin', 'admin-secret'), {
      success: false,
      message: /local user/,
    });
    test.match(await access.testConnection(administrator, { search_base: 'ou=nowhere,dc=example,dc=org' }), {
      success: false,
    });
    test.match(await access.testConnection(administrator, { bind_password: 'wrong' }), { success: false });
    const elsewhere = await access.testConnection(administrator, { urls: ['ldap://127.0.0.1:1'] });
    test.match(
      elsewhere,
      { success: false, message: /bind_password/ },
      'the kept password is not sent to another server',
    );
    const operator = await access.authenticate(password('operator', 'operator-secret'), here);
    test.equal(await codeOf(access.directory(operator)), 'ACCESS_FORBIDDEN');
    test.equal(await codeOf(access.setDirectory(operator, {})), 'ACCESS_FORBIDDEN');
    test.equal(
      await codeOf(access.setDirectory(administrator, { search_filter: '(uid={user}' })),
      'ACCESS_DIRECTORY_SETTINGS_INVALID',
    );
  },
);

await t.test(
  'mappings of the settings file that give nothing are warned of, at the start and when they are used',
  slow,
  async (test) => {
    const slapd = await createSlapd(test, certificates);
    const warnings: string[] = [];
    const log = {
      ...silentLog,
      warn: (_: unknown, text: string) => void warnings.push(text),
    } as unknown as typeof silentLog;
    let streams = shippedStreams;
    const access = await createTestAccess(test, {
      log,
      streams: () => streams,
      settings: { ldap: { ...base, urls: [slapd.url] } },
    });
    test.same(warnings.splice(0), [
      'a mapping of the directory gives nothing: access.ldap.role_mapping[1].roles[1] is "Unknown role"',
      'a mapping of the directory gives nothing: access.ldap.stream_mapping[0].streams[2] is "Audit logs", which no mapping opens',
    ]);
    await access.authenticate(password('bob', 'bob-secret'), here);
    test.same(warnings, [], 'each once');
    streams = shippedStreams.filter(({ id }) => id !== 'system-logs');
    await access.openSession('alice', 'alice-secret', here);
    test.same(warnings, [
      'a mapping of the directory gives nothing: access.ldap.stream_mapping[0].streams[0] is "system LOGS"',
    ]);
  },
);

await t.test(
  'once its settings change, passwords that the directory proved a moment ago are asked for again',
  slow,
  async (test) => {
    const slapd = await createSlapd(test, certificates);
    const state = await createTestState(test);
    const settings = {
      ...base,
      urls: [slapd.url],
      role_mapping: [{ group: 'log-readers-*', roles: ['Reader'] }],
      stream_mapping: [],
    };
    const [access, other] = [await createTestAccess(test, { state }), await createTestAccess(test, { state })];
    await access.setDirectory(administrator, settings);
    const bob = (on: TestAccess): Promise<string> => codeOf(on.authenticate(password('bob', 'bob-secret'), here));
    await until(async () => (await bob(other)) === 'none');
    test.equal(await bob(access), 'none');
    const before = await callsOf(access);
    test.equal(await bob(access), 'none');
    test.equal(await callsOf(access), before, 'the minute of a verified password');
    await access.authenticate(password('admin', 'admin-secret'), here);
    const hashed = await hashesOf(access.registry);

    await access.setDirectory(administrator, { role_mapping: [{ group: 'log-admins', roles: ['Administrator'] }] });
    test.equal(await bob(access), 'ACCESS_DENIED', 'no entry fits any more');
    await access.setDirectory(administrator, { role_mapping: settings.role_mapping });
    test.equal(await bob(access), 'none');
    await access.setDirectory(administrator, { enabled: false });
    test.equal(await bob(access), 'ACCESS_DENIED', 'disabled');
    await until(async () => (await bob(other)) === 'ACCESS_DENIED');
    await access.authenticate(password('admin', 'admin-secret'), here);
    test.equal(
      await hashesOf(access.registry),
      hashed + 1,
      'one for the user without a directory, none for the local one',
    );
  },
);

await t.test('a directory of the settings file cannot be changed through the API', slow, async (test) => {
  const { access } = await withSlapd(test);
  test.match(await access.directory(administrator), { fromFile: true, passwordSet: true });
  test.equal(await codeOf(access.setDirectory(administrator, { enabled: false })), 'ACCESS_READ_ONLY');
});

await t.test(
  'one login is one connection; local users, sessions and passwords of the last minute are none',
  slow,
  async (test) => {
    const slapd = await createSlapd(test, certificates);
    let connections = 0;
    const relay = createServer((socket) => {
      connections += 1;
      const onward = connect(Number(new URL(slapd.url).port), '127.0.0.1');
      socket
        .on('error', () => undefined)
        .pipe(onward.on('error', () => undefined))
        .pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    test.teardown(() => void relay.close());
    const access = await createTestAccess(test, {
      settings: { ldap: { ...base, urls: [`ldap://127.0.0.1:${(relay.address() as AddressInfo).port}`] } },
    });
    test.equal(connections, 0, 'nothing is asked at the start');
    await Promise.all(Array.from({ length: 5 }, () => access.authenticate(password('bob', 'bob-secret'), here)));
    const { sessionId } = await access.openSession('bob', 'bob-secret', here);
    for (let request = 0; request < 5; request += 1) await access.authenticate({ kind: 'session', sessionId }, here);
    test.equal(
      connections,
      1,
      'bind, search, groups and the bind of the user go over one connection, and requests at the same time share it',
    );
    await access.authenticate(password('admin', 'admin-secret'), here);
    test.equal(await codeOf(access.authenticate(password('Operator', 'wrong'), here)), 'ACCESS_DENIED');
    test.equal(connections, 1, 'none for local users');
    test.equal(await codeOf(access.authenticate(password('bob', 'wrong'), here)), 'ACCESS_DENIED');
    test.equal(connections, 2, 'a wrong password is asked once');
  },
);

await t.test('a test of a login is no place to guess from: it counts as a login', slow, async (test) => {
  const slapd = await createSlapd(test, certificates);
  const counted: string[] = [];
  const attempt = async (username: string): Promise<Attempt> => ({
    known: false,
    succeeded: () => void counted.push(`${username} right`),
    failed: () => void counted.push(`${username} wrong`),
    abandoned: () => void counted.push(`${username} neither`),
  });
  const throttle: Throttle = { attempt, forgive: () => undefined, waiting: () => 0, stop: () => undefined };
  const access = await createTestAccess(test, { throttle, settings: { ldap: { ...base, urls: [slapd.url] } } });
  await access.testLogin(administrator, 'bob', 'a guess');
  await access.testLogin(administrator, 'bob', 'bob-secret');
  await access.testLogin(administrator, 'bob', 'bob-secret', { urls: [] });
  test.same(counted, ['bob wrong', 'bob right', 'bob neither']);
});
