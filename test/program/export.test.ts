import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SearchAnswer } from '../../api/control/search.js';
import { cleanEnvironment, commandLine, node, startProgram, until } from '../program.js';

t.test('the command line exports and follows what a running program has', async (t) => {
  const program = await startProgram(t);
  const send = (text: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, {
      method: 'POST',
      body: JSON.stringify({ host: 'h', short_message: text, _user: '=ada' }),
    });
  const found = (query: string, count: number): Promise<true> =>
    until(
      async () =>
        ((await program.control.request('POST', '/search', { query })) as SearchAnswer).total === count || undefined,
      60_000,
      () => program.output(),
    );
  const start = (...args: readonly string[]) =>
    spawn(node[0], [...node.slice(1), commandLine, ...args, '--config', program.settingsFile], {
      env: { ...cleanEnvironment(), NO_COLOR: '1' },
    });
  for (const text of ['exported one', 'exported "two"', 'exported three']) await send(text);
  await found('exported', 3);

  await t.test('export writes the whole file', async (t) => {
    const file = join(program.folder, 'out.csv');
    const child = start(
      'export',
      'exported',
      '--output',
      file,
      '--fields',
      'message,user,missing',
      '--sort',
      'timestamp:asc',
    );
    t.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
    t.same(
      readFileSync(file, 'utf8').split('\n').sort(),
      [
        '',
        '"exported ""two""","\'=ada",',
        '"exported one","\'=ada",',
        '"exported three","\'=ada",',
        '"message","user","missing"',
      ].sort(),
    );
    t.notOk(existsSync(`${file}.part`));
  });

  await t.test('an index set that is not there is an error that names those that are', async (t) => {
    for (const verb of [['search'], ['search', '--follow'], ['export', '--output', join(program.folder, 'none.csv')]]) {
      for (const [sets, got] of [
        ['nope', 'nope'],
        ['sluice_default, nope,other', 'nope, other'],
        [',', 'none'],
      ] as const) {
        const child = start(...verb, 'exported', '--index-set', sets);
        let error = '';
        child.stderr.on('data', (text) => {
          error += String(text);
        });
        t.equal(await new Promise((resolve) => child.on('close', resolve)), 2, `${verb[0]} ${sets}`);
        t.match(
          error,
          `index set: There is no such index set. Got ${got}. Allowed: sluice_access, sluice_audit, sluice_dead_letters, sluice_default, `,
        );
      }
    }
    t.notOk(existsSync(join(program.folder, 'none.csv')));
    const known = start('search', 'exported', '--index-set', 'sluice_default,sluice_dead_letters', '--quiet');
    t.equal(await new Promise((resolve) => known.on('close', resolve)), 0);
  });

  await t.test('an export whose reader leaves (| head) ends', async (t) => {
    await Promise.all(Array.from({ length: 300 }, (_, at) => send(`bulky ${at} ${'x'.repeat(10_000)}`)));
    await found('bulky', 300);
    const child = start('export', 'bulky', '--last', 'all');
    let error = '';
    child.stderr.on('data', (text) => {
      error += String(text);
    });
    child.stdout.once('data', () => child.stdout.destroy());
    t.equal(await new Promise((resolve) => child.on('close', resolve)), 130, error);
    t.match(error, /Interrupted after \d+ messages/);
  });

  await t.test('search --follow goes on with new messages until it is interrupted', async (t) => {
    const child = start('search', 'exported OR followed', '--follow', '--fields', 'message', '--json');
    let out = '';
    child.stdout.on('data', (text) => {
      out += String(text);
    });
    await until(
      () => out.includes('exported three') || undefined,
      60_000,
      () => out,
    );
    await send('followed');
    await until(
      () => out.includes('followed') || undefined,
      60_000,
      () => out,
    );
    child.kill('SIGINT');
    t.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
    t.same(
      out
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: string }).message)
        .sort(),
      ['exported "two"', 'exported one', 'exported three', 'followed'],
    );
  });
});
