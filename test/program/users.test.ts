/** The real program: first passwords on the terminal, and the verbs for who lost one. */
import { spawn } from 'node:child_process';
import t from 'tap';
import { cleanEnvironment, commandLine, node, startProgram, until, type Program } from '../program.js';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly problems: string;
}

function sluice(program: Program, words: readonly string[], input = ''): Promise<Ran> {
  const [command, ...leading] = node;
  const child = spawn(command, [...leading, commandLine, ...words, '--config', program.settingsFile], {
    env: cleanEnvironment(),
    stdio: 'pipe',
  });
  let [out, problems] = ['', ''];
  child.stdout.on('data', (text) => {
    out += String(text);
  });
  child.stderr.on('data', (text) => {
    problems += String(text);
  });
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, problems })));
}

async function apiOf(program: Program): Promise<string> {
  return until(
    () => /(http:\/\/127\.0\.0\.1:\d+)\/api/.exec(program.output())?.[1],
    60_000,
    () => program.output(),
  );
}

async function login(api: string, username: string, password: string): Promise<number> {
  const response = await fetch(`${api}/api/system/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
    body: JSON.stringify({ username, password }),
  });
  await response.text();
  return response.status;
}

await t.test(
  'first passwords are shown once; lost ones are set over the control socket',
  { timeout: 240_000 },
  async (test) => {
    const program = await startProgram(test);
    const api = await apiOf(program);
    const shown = new Map(
      [...program.output().matchAll(/^ {2}(Admin|Operator|AuditViewer) +([A-Za-z0-9]{20})$/gm)].map(
        ([, name = '', text = '']) => [name, text],
      ),
    );
    test.same([...shown.keys()], ['Admin', 'Operator', 'AuditViewer']);
    for (const [name, text] of shown) test.equal(await login(api, name, text), 200, name);
    const list = await sluice(program, ['users', 'list']);
    test.match(list.out, /Admin +Administrator\n.*AuditViewer +Reader, AuditViewer\nOperator +Reader, Operator/s);
    const made = await sluice(
      program,
      ['users', 'create', 'alice', '--role', 'reader', '--role', 'Operator'],
      'alice-secret\n',
    );
    test.same([made.code, made.out], [0, 'alice was made.\n'], made.problems);
    test.equal(await login(api, 'alice', 'alice-secret'), 200);
    const set = await sluice(program, ['users', 'set-password', 'alice', '--generate']);
    const generated = /shown this once: (\S+)/.exec(set.out)?.[1] ?? '';
    test.equal(await login(api, 'alice', generated), 200);
    test.equal(await login(api, 'alice', 'alice-secret'), 401);
    const reset = await sluice(program, ['users', 'reset-first-password', 'admin']);
    test.equal(await login(api, 'Admin', /shown this once: (\S+)/.exec(reset.out)?.[1] ?? ''), 200);
    const wrong = await sluice(program, ['users', 'set-password', 'nobody', '--generate']);
    test.not(wrong.code, 0);
    test.match(wrong.problems, /no such user/);
    await program.end();
    const again = await startProgram(test, { folder: program.folder });
    await apiOf(again);
    test.notMatch(again.output(), /first passwords/i, 'nothing is shown at the second start');
    await again.end();
  },
);
