/** A real directory: slapd of this machine as a child process, on free ports, in a folder of its own. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { opensslMissing, type Certificates } from '../receivers/certificates.js';
import { until } from './support.js';

const program = '/usr/sbin/slapd';
export const slapdMissing: string | false = existsSync(program)
  ? opensslMissing
  : `${program} is not there (Debian package slapd)`;

export const directoryPassword = 'directory-secret';
const bindDn = 'cn=reader,dc=example,dc=org';
/** How its people and groups are looked for. */
export const directorySearch = {
  enabled: true,
  bind_dn: bindDn,
  bind_password: directoryPassword,
  search_base: 'ou=people,dc=example,dc=org',
  group_attribute: '',
  group_search_base: 'ou=groups,dc=example,dc=org',
  group_search_filter: '(member={dn})',
} as const;

export interface Slapd {
  readonly url: string;
  readonly secureUrl: string;
  readonly caFile: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const user = (uid: string, name: string, more = ''): string => `
dn: uid=${uid},ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: ${uid}
cn: ${name}
sn: ${name.split(' ').pop()}
mail: ${uid}@example.org
userPassword: ${uid}-secret
${more}`;

const entries = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ${bindDn}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: ${directoryPassword}

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=org
objectClass: organizationalUnit
ou: groups
${user('alice', 'Alice Example')}${user('bob', 'Bob Example', 'seeAlso: cn=log admins,ou=groups,dc=example,dc=org\n')}${user('carol', 'Carol Without Groups')}${user('admin', 'A Name That Is Local')}${user('star', 'Star', 'title: *)(uid=*\n')}
dn: uid=elsewhere,ou=people,dc=example,dc=org
objectClass: referral
objectClass: extensibleObject
uid: elsewhere
ref: ldap://127.0.0.1:1/uid=elsewhere,dc=example,dc=org

dn: cn=log admins,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: log admins
member: uid=alice,ou=people,dc=example,dc=org

dn: cn=log-readers-eu,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: log-readers-eu
member: uid=bob,ou=people,dc=example,dc=org
member: uid=alice,ou=people,dc=example,dc=org
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export async function createSlapd(
  test: Test,
  { authority, server }: Pick<Certificates, 'authority' | 'server'>,
): Promise<Slapd> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-slapd-'));
  let child: ChildProcess | undefined;
  await mkdir(join(folder, 'data'));
  const modules = ['/usr/lib/ldap', '/usr/lib/openldap'].find((path) => existsSync(path)) ?? '/usr/lib/ldap';
  const schemas = ['/etc/ldap/schema', '/etc/openldap/schema'].find((path) => existsSync(path)) ?? '/etc/ldap/schema';
  const configuration = join(folder, 'slapd.conf');
  await writeFile(
    configuration,
    `${['core', 'cosine', 'inetorgperson', 'nis'].map((name) => `include ${schemas}/${name}.schema`).join('\n')}
modulepath ${modules}
moduleload back_mdb
pidfile ${join(folder, 'slapd.pid')}
TLSCACertificateFile ${authority.cert}
TLSCertificateFile ${server.cert}
TLSCertificateKeyFile ${server.key}
database mdb
maxsize 16777216
suffix "dc=example,dc=org"
rootdn "cn=root,dc=example,dc=org"
directory ${join(folder, 'data')}
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="${bindDn}" read by * none
`,
  );
  const ldif = join(folder, 'entries.ldif');
  await writeFile(ldif, entries);
  const added = spawnSync(program, ['-T', 'add', '-f', configuration, '-l', ldif], { encoding: 'utf8' });
  if (added.status !== 0) throw new Error(`slapadd: ${added.stderr}`);
  const [port, securePort] = [await freePort(), await freePort()];
  const start = async (): Promise<void> => {
    child = spawn(
      program,
      ['-f', configuration, '-h', `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${securePort}`, '-d', '0'],
      { stdio: 'ignore' },
    );
    await until(
      () =>
        new Promise<boolean>((resolve) => {
          const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
          socket.on('close', () => socket.destroy()).setTimeout(1_000, () => socket.destroy());
          socket.on('connect', () => socket.end());
        }),
    );
  };
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    await new Promise((resolve) => {
      running.once('exit', resolve);
      running.kill('SIGKILL');
    });
  };
  test.teardown(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  await start();
  return {
    url: `ldap://127.0.0.1:${port}`,
    secureUrl: `ldaps://127.0.0.1:${securePort}`,
    caFile: authority.cert,
    start,
    stop,
  };
}
