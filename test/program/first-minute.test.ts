import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createServer, connect } from 'node:net';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SearchResult } from '../../schemas/query.js';
import { cleanEnvironment, commandLine, node, startProgram, testFolder, until } from '../program.js';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function sluice(
  args: readonly string[],
  options: { cwd?: string; input?: string; environment?: NodeJS.ProcessEnv; uid?: number } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const [command, ...leading] = node;
    const child = spawn(command, [...leading, commandLine, ...args], {
      cwd: options.cwd,
      env: { ...cleanEnvironment(), NO_COLOR: '1', ...options.environment },
      ...(options.uid === undefined ? {} : { uid: options.uid }),
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (text) => {
      out += String(text);
    });
    child.stderr.on('data', (text) => {
      err += String(text);
    });
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

t.test('a message sent over TCP, UDP or HTTP is found by search', async (t) => {
  const program = await startProgram(t);
  const message = (text: string) =>
    JSON.stringify({ version: '1.1', host: 'my-host', short_message: text, _user: 'ada' });
  const tcp = connect(program.port('gelf-tcp'), '127.0.0.1');
  tcp.end(`${message('hello tcp')}\0`);
  const udp = createSocket('udp4');
  await new Promise((resolve) => udp.send(message('hello udp'), program.port('gelf-udp'), '127.0.0.1', resolve));
  udp.close();
  const answer = await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, {
    method: 'POST',
    body: message('hello http'),
  });
  t.equal(answer.status, 202);
  const found = await until(
    async () => {
      const result = (await program.control.request('POST', '/search', {
        query: 'hello AND user:ada',
      })) as SearchResult;
      return result.total === 3 ? result : undefined;
    },
    10_000,
    () => program.output(),
  );
  t.same(found.hits.map(({ document }) => document['message']).sort(), ['hello http', 'hello tcp', 'hello udp']);
  t.equal(await program.end('SIGTERM'), 0);
  const { code, err } = await sluice(['search', 'hello', '--config', program.settingsFile]);
  t.equal(code, 2, 'a search without a running program says so');
  t.match(err, /No running Sluice/);
});

t.test('what was accepted before a stop is found after the next start', async (t) => {
  const first = await startProgram(t);
  await fetch(`http://127.0.0.1:${first.port('gelf-http')}/gelf`, {
    method: 'POST',
    body: '{"host":"h","short_message":"kept over a stop"}',
  });
  t.equal(await first.end('SIGINT'), 0);
  const second = await startProgram(t, { folder: first.folder });
  const found = await until(
    async () => {
      const result = (await second.control.request('POST', '/search', { query: '"kept over a stop"' })) as SearchResult;
      return result.total > 0 ? result : undefined;
    },
    10_000,
    () => second.output(),
  );
  t.equal(found.total, 1);
});

t.test('help lists every verb', async (t) => {
  const { code, out } = await sluice(['--help']);
  t.equal(code, 0);
  for (const verb of ['start', 'search', 'rules', 'config', 'load', 'status'])
    t.match(out, new RegExp(`\\n  ${verb}`), verb);
});

t.test('a taken port, an unwritable folder and a wrong setting are one sentence and exit code 2', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const folder = testFolder(t);
  const settingsFile = join(folder, 'sluice.yaml');
  const run = async (text: string, want: RegExp, options = {}) => {
    writeFileSync(settingsFile, text);
    const { code, err } = await sluice(['start', '--config', settingsFile], options);
    t.equal(code, 2, err);
    t.match(err, want);
    t.notMatch(err, /\n\s+at /, 'no stack trace');
  };
  const rest = 'admin: { enabled: false }\n';
  await run(`${rest}receivers: [{ type: gelf_tcp, host: 127.0.0.1, port: ${port} }]\n`, new RegExp(`${port}`));
  await run(`admin: { port: ${port} }\nreceivers: []\n`, new RegExp(`${port}`));
  await run('topics: { kind: kafak }\n', /sluice\.yaml:1:\d+.*kafka/s);
  await run('reciever: []\n', /receivers/);
  mkdirSync(join(folder, 'closed'));
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'closed'), 0o555);
  await run(
    `data_folder: ./closed/data\n${rest}receivers: []\n`,
    /closed/,
    process.getuid?.() === 0 ? { uid: 65534 } : {},
  );
});

t.test('a second signal ends at once', async (t) => {
  const program = await startProgram(t);
  program.child.kill('SIGSTOP');
  program.child.kill('SIGTERM');
  program.child.kill('SIGINT');
  program.child.kill('SIGCONT');
  const ended = await program.end('SIGINT');
  t.ok(ended === 130 || ended === 0, String(ended));
});

t.test(
  'the data folder is made for its owner alone; the mode of one that is there stays, with a warning where others may enter',
  async (t) => {
    const folder = testFolder(t);
    const data = join(folder, 'data');
    const first = await startProgram(t, { folder });
    t.equal(statSync(data).mode & 0o777, 0o700);
    t.notMatch(first.output(), /may enter the data folder/);
    t.equal(await first.end(), 0);
    chmodSync(data, 0o755);
    const second = await startProgram(t, { folder });
    t.equal(statSync(data).mode & 0o777, 0o755);
    t.match(second.output(), /"mode":"755".*other users of this machine may enter the data folder/);
    t.equal(await second.end(), 0);
  },
);
