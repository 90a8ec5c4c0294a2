/** Every verb, asked for something that cannot be, beside a running program: it says so, and ends with 2. */
import { execFile } from 'node:child_process';
import type { Command } from 'commander';
import t from 'tap';
import { buildProgram } from '../../cli/program.js';
import { createSemaphore } from '../../core/semaphore.js';
import { packageRoot } from '../../core/process/package-root.js';
import { cleanEnvironment, commandLine, node, startProgram } from '../program.js';

const brokenRules = t.testdir({ 'broken.yaml': 'rules: nope\n' });

/** By verb, with what is wrong in the first line of what it says. */
const wrong: Readonly<Record<string, readonly [said: RegExp, ...words: string[]][]>> = {
  start: [[/workers/, '--workers', 'many']],
  search: [
    [/level:\[1 TO/, 'level:[1 TO'],
    [/nope/, 'a', '--index-set', 'nope'],
    [/tomorrowish/, '--from', 'tomorrowish'],
  ],
  status: [[/king/, '--role', 'king']],
  rotate: [[/nope/, 'nope']],
  export: [[/level:\[1 TO/, 'level:[1 TO']],
  top: [[/colour/, '--by', 'colour']],
  tap: [[/nope/, 'nope']],
  'dead-letters list': [[/later/, '--last', 'later']],
  'dead-letters show': [[/nope/, 'nope']],
  'dead-letters replay': [[/./]],
  'dead-letters drop': [[/./]],
  'parking list': [[/--nope/, '--nope']],
  'parking abandon': [[/nope/, 'nope']],
  'users list': [[/--nope/, '--nope']],
  'users create': [[/a:b/, 'a:b', '--generate']],
  'users set-password': [[/nobody/, 'nobody', '--generate']],
  'users reset-first-password': [[/nobody/, 'nobody']],
  'rules check': [[/broken\.yaml/, '--folder', brokenRules]],
  'rules test': [[/nowhere/, '/nowhere.json']],
  'rules explain': [[/nowhere/, '/nowhere.json']],
  'config check': [[/nowhere/, '--config', '/nowhere.yaml']],
  'config show': [[/nowhere/, '--config', '/nowhere.yaml']],
  load: [[/pigeon/, '--transport', 'pigeon']],
  completion: [[/tcsh/, 'tcsh']],
};

function pathsOf(command: Command, path: readonly string[] = []): readonly string[] {
  return command.commands.flatMap((one) =>
    one.commands.length > 0 ? pathsOf(one, [...path, one.name()]) : [[...path, one.name()].join(' ')],
  );
}

function sluice(words: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  const [command, ...leading] = node;
  const options = { cwd: packageRoot, env: { ...cleanEnvironment(), NO_COLOR: '1' } };
  return new Promise((resolve) => {
    execFile(command, [...leading, commandLine, ...words], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` });
    });
  });
}

t.test('every verb ends with 2 for what whoever asked got wrong', { timeout: 120_000 }, async (t) => {
  t.strictSame(Object.keys(wrong).toSorted(), pathsOf(buildProgram()).toSorted(), 'every verb is asked');
  const program = await startProgram(t);
  const atOnce = createSemaphore(4);
  const check = async (verb: string, said: RegExp, words: readonly string[]): Promise<void> => {
    const config = words.includes('--config') || verb === 'completion' ? [] : ['--config', program.settingsFile];
    const ended = await sluice([...verb.split(' '), ...words, ...config]);
    const call = `sluice ${verb} ${words.join(' ')}: ${ended.said.slice(0, 300)}`;
    t.equal(ended.code, 2, call);
    t.match(ended.said, said, call);
  };
  await Promise.all(
    Object.entries(wrong).flatMap(([verb, cases]) =>
      cases.map(([said, ...words]) => atOnce.run(() => check(verb, said, words))),
    ),
  );
});
