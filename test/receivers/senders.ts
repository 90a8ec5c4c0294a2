/** Real GELF senders, each run as its owners would: as a process of its own, against a port on loopback. */
import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { packageRoot } from '../../core/process/package-root.js';
import { until } from './receiving.js';

export interface Sender {
  /** File name of its golden bytes. */
  readonly name: string;
  readonly type: 'gelf_tcp' | 'gelf_udp' | 'gelf_http';
  readonly tls?: true;
  /** Why it cannot run here, for the skip line. */
  readonly missing: string | false;
  /** What arrives, as parts of the sender's documents. */
  readonly wanted: readonly Readonly<Record<string, unknown>>[];
  /** Sends what is wanted, and resolves when the sender has ended. */
  readonly send: (port: number) => Promise<void>;
}

const run = promisify(execFile);

function missingCommand(command: string): string | false {
  const folders = ['/usr/sbin', '/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  for (const folder of folders) {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return false;
    } catch {
      /* look further */
    }
  }
  return `${command} is not installed`;
}

/** Chunked by any sender: does not compress below a datagram. */
const long = Array.from({ length: 600 }, (_, index) => ((index * 2654435761) >>> 0).toString(36)).join(' ');
const short = 'a short one with ümläuts and "quotes"';

async function runNode(script: string): Promise<void> {
  await run(process.execPath, ['--input-type=commonjs', '-e', script], { cwd: packageRoot, timeout: 10_000 });
}

function gelfPro(adapter: 'udp' | 'tcp' | 'tcp-tls'): Sender {
  return {
    name: `gelf-pro-${adapter}`,
    type: adapter === 'udp' ? 'gelf_udp' : 'gelf_tcp',
    ...(adapter === 'tcp-tls' ? { tls: true as const } : {}),
    missing: existsSync(join(packageRoot, 'node_modules/gelf-pro')) ? false : 'gelf-pro is not installed',
    wanted: [
      { short_message: short, level: 3, host: 'sender', _amount: 12.5, _nested_key: 'value', _facility: 'bench' },
      { short_message: long, level: 6 },
    ],
    send: (port) =>
      runNode(`
      const log = require('gelf-pro');
      log.setConfig({ fields: { facility: 'bench', host: 'sender' }, adapterName: '${adapter}', adapterOptions: { host: '127.0.0.1', port: ${port}, timeout: 3000, rejectUnauthorized: false } });
      const done = (then) => (error) => { if (error) throw error; then?.(); };
      log.error(${JSON.stringify(short)}, { amount: 12.5, nested: { key: 'value' } }, done(() => log.info(${JSON.stringify(long)}, done())));`),
  };
}

function grayGelf(name: string, options: string): Sender {
  return {
    name: `graygelf-${name}`,
    type: 'gelf_udp',
    missing: existsSync(join(packageRoot, 'node_modules/graygelf')) ? false : 'graygelf is not installed',
    wanted: [
      { short_message: short, full_message: 'the whole story', level: 6, host: 'sender', _foo: 'bar' },
      { short_message: long, host: 'sender' },
    ],
    send: (port) =>
      runNode(`
      const log = require('graygelf')({ host: '127.0.0.1', port: ${port}, ${options} });
      const base = { version: '1.1', host: 'sender' };
      log.raw({ ...base, short_message: ${JSON.stringify(short)}, full_message: 'the whole story', level: 6, _foo: 'bar' });
      setTimeout(() => { log.raw({ ...base, short_message: ${JSON.stringify(long)} }); setTimeout(() => process.exit(0), 200); }, 50);`),
  };
}

const python = '/usr/bin/python3';
const graypyFolder = '/usr/lib/python3/dist-packages/graypy';

function grayPy(handler: 'GELFUDPHandler' | 'GELFTCPHandler' | 'GELFHTTPHandler', type: Sender['type']): Sender {
  return {
    name: `graypy-${handler.slice(4, -7).toLowerCase()}`,
    type,
    missing: existsSync(graypyFolder) ? false : 'python3-graypy is not installed',
    wanted: [
      { short_message: short, level: 4, version: '1.0', host: 'sender', _order: 7 },
      { short_message: long, level: 3 },
    ],
    send: async (port) => {
      await run(
        python,
        [
          '-c',
          [
            'import logging, graypy, json, sys',
            'log = logging.getLogger("bench")',
            'log.setLevel(logging.DEBUG)',
            `log.addHandler(graypy.${handler}("127.0.0.1", ${port}, localname="sender"))`,
            'short, long = json.loads(sys.argv[1])',
            'log.warning(short, extra={"order": 7})',
            'log.error(long)',
            'logging.shutdown()',
          ].join('\n'),
          JSON.stringify([short, long]),
        ],
        { timeout: 10_000 },
      );
    },
  };
}

/** JSON by rsyslog's own property replacer. */
const rsyslogTemplate = `template(name="gelf" type="list") {
  constant(value="{\\"version\\":\\"1.1\\",\\"host\\":\\"")
  property(name="hostname" format="json")
  constant(value="\\",\\"short_message\\":\\"")
  property(name="msg" format="json")
  constant(value="\\",\\"timestamp\\":")
  property(name="timereported" dateformat="unixtimestamp")
  constant(value=",\\"level\\":\\"")
  property(name="syslogseverity")
  constant(value="\\",\\"_facility\\":\\"")
  property(name="syslogfacility-text")
  constant(value="\\",\\"_program\\":\\"")
  property(name="programname" format="json")
  constant(value="\\"}")
}
`;

function rsyslog(protocol: 'tcp' | 'udp'): Sender {
  return {
    name: `rsyslog-${protocol}`,
    type: protocol === 'tcp' ? 'gelf_tcp' : 'gelf_udp',
    missing: missingCommand('rsyslogd'),
    wanted: [
      { host: 'sender', short_message: 'first with "quotes"', level: '5', _facility: 'user', _program: 'su' },
      { host: 'sender', short_message: 'second', level: '6' },
    ],
    send: async (port) => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-rsyslog-'));
      const input = join(folder, 'in.sock');
      const framing = protocol === 'tcp' ? 'TCP_Framing="traditional" TCP_FrameDelimiter="0"' : '';
      writeFileSync(
        join(folder, 'rsyslog.conf'),
        `global(workDirectory="${folder}")\nmodule(load="imptcp")\n${rsyslogTemplate}` +
          `input(type="imptcp" path="${input}")\naction(type="omfwd" target="127.0.0.1" port="${port}" protocol="${protocol}" template="gelf" ${framing})\n`,
      );
      const child = spawn('/usr/sbin/rsyslogd', ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')], {
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => {
        child.once('exit', resolve);
        child.once('error', resolve);
      });
      try {
        await until('rsyslog to listen', () => existsSync(input));
        const socket = createConnection(input);
        socket.end('<13>Oct 11 22:14:15 sender su: first with "quotes"\n<14>Oct 11 22:14:16 sender su: second\n');
        await new Promise((resolve) => {
          socket.once('close', resolve);
        });
        await new Promise((resolve) => {
          setTimeout(resolve, 500);
        });
      } finally {
        child.kill('SIGTERM');
        await ended;
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

async function pipe(command: string, args: readonly string[], input: Buffer | string): Promise<void> {
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.end(input);
  await new Promise((resolve) => {
    child.once('close', resolve);
    child.once('error', resolve);
  });
}

const byHand = { version: '1.1', host: 'sender', short_message: short, _by: 'hand' };
const byHandText = JSON.stringify(byHand);

function netcat(name: string, type: 'gelf_tcp' | 'gelf_udp', args: readonly string[], input: string): Sender {
  return {
    name: `nc-${name}`,
    type,
    missing: missingCommand('nc'),
    wanted: [byHand],
    send: (port) => pipe('nc', [...args, '127.0.0.1', String(port)], input),
  };
}

function curl(
  name: string,
  headers: readonly string[],
  input: Buffer | string,
  wanted: Sender['wanted'] = [byHand],
): Sender {
  const options = headers.flatMap((header) => ['-H', header]);
  return {
    name: `curl-${name}`,
    type: 'gelf_http',
    missing: missingCommand('curl'),
    wanted,
    send: (port) =>
      pipe('curl', ['-sS', '-m', '5', ...options, '--data-binary', '@-', `http://127.0.0.1:${port}/gelf`], input),
  };
}

export const senders: readonly Sender[] = [
  gelfPro('udp'),
  gelfPro('tcp'),
  gelfPro('tcp-tls'),
  grayGelf('raw', 'compressType: "gzip"'),
  grayGelf('gzip', 'compressType: "gzip", alwaysCompress: true'),
  grayGelf('zlib', 'compressType: "deflate", alwaysCompress: true'),
  grayPy('GELFUDPHandler', 'gelf_udp'),
  grayPy('GELFTCPHandler', 'gelf_tcp'),
  grayPy('GELFHTTPHandler', 'gelf_http'),
  rsyslog('tcp'),
  rsyslog('udp'),
  netcat('tcp', 'gelf_tcp', ['-N'], `${byHandText}\0`),
  netcat('tcp-newline', 'gelf_tcp', ['-N'], `${byHandText}\n`),
  netcat('udp', 'gelf_udp', ['-u', '-w', '1'], byHandText),
  curl('plain', [], byHandText),
  curl('gzip', ['Content-Encoding: gzip', 'Content-Type: application/json'], gzipSync(byHandText)),
  curl('lines', [], `${byHandText}\n${byHandText}\n`, [byHand, byHand]),
  curl('array', [], `[${byHandText},\n${byHandText}]`, [byHand, byHand]),
];
