/**
 * rsyslog and syslog-ng as receivers of the tests. Both write what they took, one line a message, in a form of the
 * test's choice.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../core/process/package-root.js';
import { until } from '../../program.js';
import type { Certificates } from '../../receivers/certificates.js';

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export interface Daemon {
  readonly port: number;
  /** What was taken: host, application, priority, structured data, text. */
  lines(): string[];
}

type Transport = 'tcp' | 'udp' | 'tls';

export const rsyslogMissing = existsSync('/usr/sbin/rsyslogd') ? (false as const) : 'rsyslog is not installed';
export const rsyslogTlsMissing = existsSync('/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_ossl.so')
  ? rsyslogMissing
  : 'rsyslog-openssl is not installed';

/** A port that was free a moment ago; the daemons cannot tell which one they took. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function run(
  t: Teardown,
  folder: string,
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  listens: () => boolean,
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TZ: 'UTC', ...environment },
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`);
      return listens() ? true : undefined;
    },
    10_000,
    () => `${command} does not listen: ${said}`,
  );
}

/** Listening sockets of this machine, as Linux tells. */
function isBound(port: number, transport: Transport): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const [file, state] = transport === 'udp' ? ['/proc/net/udp', '07'] : ['/proc/net/tcp', '0A'];
  return new RegExp(`^\\s*\\d+: [0-9A-F]{8}:${hex} [0-9A-F]{8}:0000 ${state} `, 'm').test(readFileSync(file, 'latin1'));
}

export async function startRsyslog(t: Teardown, transport: Transport, certificates?: Certificates): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rsyslog-'));
  const port = await freePort();
  const out = join(folder, 'out');
  const tls =
    certificates === undefined
      ? ''
      : `global(DefaultNetstreamDriver="ossl" DefaultNetstreamDriverCAFile="${certificates.authority.cert}" DefaultNetstreamDriverCertFile="${certificates.server.cert}" DefaultNetstreamDriverKeyFile="${certificates.server.key}")\n`;
  const module =
    transport === 'udp'
      ? 'module(load="imudp")'
      : transport === 'tls'
        ? 'module(load="imtcp" StreamDriver.Name="ossl" StreamDriver.Mode="1" StreamDriver.AuthMode="x509/certvalid")'
        : 'module(load="imtcp")';
  writeFileSync(
    join(folder, 'rsyslog.conf'),
    `global(workDirectory="${folder}" maxMessageSize="64k")\n${tls}${module}\n` +
      'template(name="line" type="string" string="%pri%|%timereported:::date-rfc3339%|%hostname%|%app-name%|%procid%|%structured-data%|%msg%\\n")\n' +
      `input(type="${transport === 'udp' ? 'imudp' : 'imtcp'}" port="${port}" address="127.0.0.1")\naction(type="omfile" file="${out}" template="line")\n`,
  );
  await run(
    t,
    folder,
    '/usr/sbin/rsyslogd',
    ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')],
    {},
    () => isBound(port, transport),
  );
  return { port, lines: () => linesOf(out) };
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

/**
 * syslog-ng and rsyslog exclude each other as packages, so its files are taken out of the package without installing
 * it.
 */
const kept = join(packageRoot, 'node_modules', '.cache', 'sluice-syslog-ng');

export const syslogNgMissing = (() => {
  if (existsSync(join(kept, 'usr/sbin/syslog-ng'))) return false as const;
  try {
    mkdirSync(kept, { recursive: true });
    execFileSync('apt-get', ['-qq', 'download', 'syslog-ng-core'], { cwd: kept, stdio: 'ignore', timeout: 20_000 });
    const deb = readdirSync(kept).find((name) => name.endsWith('.deb'));
    execFileSync('dpkg-deb', ['-x', deb ?? '', kept], { cwd: kept, stdio: 'ignore' });
    execFileSync(join(kept, 'usr/sbin/syslog-ng'), ['--version'], { env: syslogNgEnvironment(), stdio: 'ignore' });
    return false as const;
  } catch {
    rmSync(kept, { recursive: true, force: true });
    return 'syslog-ng cannot be had here';
  }
})();

function syslogNgEnvironment(): NodeJS.ProcessEnv {
  const libraries = join(kept, 'usr/lib');
  return { LD_LIBRARY_PATH: [join(libraries, 'x86_64-linux-gnu'), join(libraries, 'syslog-ng')].join(':') };
}

export async function startSyslogNg(
  t: Teardown,
  transport: 'tcp' | 'udp',
  format: 'rfc5424' | 'rfc3164',
): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-syslog-ng-'));
  const port = await freePort();
  const out = join(folder, 'out');
  const source =
    format === 'rfc5424'
      ? `syslog(ip(127.0.0.1) port(${port}) transport(${transport}))`
      : `network(ip(127.0.0.1) port(${port}) transport(${transport}))`;
  writeFileSync(
    join(folder, 'syslog-ng.conf'),
    `@version: 3.35\noptions { keep-hostname(yes); chain-hostnames(no); use-dns(no); stats-freq(0); };\nsource s { ${source}; };\n` +
      `destination d { file("${out}" template("$PRI|$S_ISODATE|$HOST|$PROGRAM|$PID|$SDATA|$MESSAGE\\n")); };\nlog { source(s); destination(d); };\n`,
  );
  const modules = join(
    kept,
    'usr/lib/syslog-ng',
    readdirSync(join(kept, 'usr/lib/syslog-ng')).find((name) => /^\d/.test(name)) ?? '',
  );
  await run(
    t,
    folder,
    join(kept, 'usr/sbin/syslog-ng'),
    [
      '-F',
      '--no-caps',
      '-f',
      join(folder, 'syslog-ng.conf'),
      `--module-path=${modules}`,
      '-R',
      join(folder, 'persist'),
      '-p',
      join(folder, 'pid'),
      '-c',
      join(folder, 'ctl'),
    ],
    syslogNgEnvironment(),
    () => isBound(port, transport),
  );
  return { port, lines: () => linesOf(out) };
}
