/**
 * Every verb: its help with examples that parse, the switches that scripts count on, and an answer to a slip of the
 * pen.
 */
import type { Command } from 'commander';
import t from 'tap';
import { reportFailure } from '../../cli/failure.js';
import { buildProgram } from '../../cli/program.js';

interface Verb {
  readonly path: string;
  readonly command: Command;
}

function verbsOf(command: Command, path: readonly string[] = []): Verb[] {
  return command.commands.flatMap((one) =>
    one.commands.length > 0
      ? verbsOf(one, [...path, one.name()])
      : [{ path: [...path, one.name()].join(' '), command: one }],
  );
}

/** A program whose verbs do nothing. */
function idle(): Command {
  const program = buildProgram();
  for (const { command } of verbsOf(program)) command.action(() => undefined);
  return program;
}

const paths = verbsOf(buildProgram()).map(({ path }) => path);

async function run(program: Command, words: readonly string[]): Promise<{ said: string; exitCode: number }> {
  let said = '';
  const output = {
    writeOut: (text: string) => {
      said += text;
    },
    writeErr: (text: string) => {
      said += text;
    },
  };
  program.configureOutput(output);
  for (const { command } of verbsOf(program)) command.configureOutput(output);
  for (const command of program.commands) command.configureOutput(output);
  try {
    await program.parseAsync(words, { from: 'user' });
    return { said, exitCode: 0 };
  } catch (error) {
    return { said, exitCode: reportFailure(error) };
  }
}

/**
 * What follows `sluice` in a line of examples: no pipe before it, nothing of a next command or a file behind it, no
 * explanation behind two spaces.
 */
function wordsOf(example: string): string[] {
  const text = (/(?:^|\| )sluice ?(.*)$/.exec(example.trim())?.[1] ?? '').replace(/ {2,}.*$/, '');
  const words = [...text.matchAll(/'([^']*)'|(\S+)/g)];
  const end = words.findIndex(([, , bare]) => bare !== undefined && ['|', '>', '>>', '&&'].includes(bare));
  return words.slice(0, end < 0 ? words.length : end).map(([, quoted, bare]) => quoted ?? bare ?? '');
}

const examplesOf = (help: string): string[] =>
  (/\nExamples:\n((?: {2}.*\n?)+)/.exec(help)?.[1] ?? '').split('\n').filter((line) => line.trim() !== '');

async function hasExample(path: string, own: readonly string[]): Promise<boolean> {
  const [group = '', verb] = path.split(' ');
  if (own.some((example) => wordsOf(example).join(' ').startsWith(path))) return true;
  return verb !== undefined && examplesOf((await run(idle(), [group, '--help'])).said).length > 0;
}

t.test('the help of every verb says what it does and has examples, and every example parses', async (t) => {
  for (const path of paths) {
    const { said, exitCode } = await run(idle(), [...path.split(' '), '--help']);
    t.equal(exitCode, 0, `${path} --help`);
    t.match(said, `Usage: sluice ${path}`);
    const examples = examplesOf(said);
    t.ok(await hasExample(path, examples), `${path} has an example, or its group has some`);
    for (const example of examples) {
      const { said: problem, exitCode: code } = await run(idle(), wordsOf(example));
      t.equal(code, 0, `${example.trim()} ${problem}`);
    }
  }
});

t.test('the examples of the program itself and of groups parse too', async (t) => {
  for (const words of [
    ['--help'],
    ...buildProgram()
      .commands.filter(({ commands }) => commands.length > 0)
      .map((group) => [group.name(), '--help']),
  ]) {
    const { said, exitCode } = await run(idle(), words);
    t.equal(exitCode, 0);
    for (const example of examplesOf(said)) t.equal((await run(idle(), wordsOf(example))).exitCode, 0, example.trim());
  }
});

t.test('--json where data is printed, --quiet where there is progress or a note', async (t) => {
  const switches: Readonly<Record<string, readonly string[]>> = {
    start: ['--quiet'],
    search: ['--json', '--quiet'],
    status: ['--json'],
    rotate: ['--json', '--quiet'],
    export: ['--quiet'],
    top: ['--json'],
    tap: ['--json', '--quiet'],
    load: ['--json', '--quiet'],
    'rules check': ['--json', '--quiet'],
    'rules test': ['--json'],
    'rules explain': ['--json'],
    'config check': ['--json', '--quiet'],
    'config show': ['--json'],
    'parking list': ['--json'],
    'parking abandon': ['--json', '--quiet'],
    'dead-letters list': ['--json', '--quiet'],
    'dead-letters show': ['--json', '--quiet'],
    'dead-letters replay': ['--json', '--quiet'],
    'dead-letters drop': ['--json', '--quiet'],
  };
  const verbs = new Map(verbsOf(buildProgram()).map(({ path, command }) => [path, command]));
  for (const [path, wanted] of Object.entries(switches)) {
    const options = verbs.get(path)?.options ?? [];
    for (const long of wanted)
      t.ok(
        options.some((option) => option.long === long),
        `${path} ${long}`,
      );
  }
  for (const { path, command } of verbsOf(buildProgram())) {
    for (const option of command.options) {
      t.ok(option.description.length > 3, `${path} ${option.flags} is described`);
      if (option.long === '--quiet') t.equal(option.short, '-q', `${path}: -q`);
    }
  }
});

/** Two letters in the middle change places. */
function slip(word: string): string {
  const at = Math.max(1, Math.floor(word.length / 2));
  return `${word.slice(0, at - 1)}${word.charAt(at)}${word.charAt(at - 1)}${word.slice(at + 1)}`;
}

t.test('a wrong verb or option ends with 2 and is told what was meant', async (t) => {
  for (const path of paths) {
    const words = path.split(' ');
    const name = words.at(-1) as string;
    const verb = await run(idle(), [...words.slice(0, -1), slip(name)]);
    t.equal(verb.exitCode, 2, slip(name));
    t.match(verb.said, /Did you mean /, `${slip(name)}: ${verb.said.slice(0, 100)}`);
    const option = verbsOf(buildProgram())
      .find((one) => one.path === path)
      ?.command.options.find(({ long }) => (long ?? '').length > 5)?.long;
    if (option === undefined || option === null) continue;
    const wrong = await run(idle(), [...words, slip(option)]);
    t.equal(wrong.exitCode, 2, `${path} ${slip(option)}`);
    t.match(wrong.said, `Did you mean ${option}?`);
  }
});

t.test('exit codes: 0 for help and version, 2 for what cannot be asked', async (t) => {
  const cases: readonly [words: readonly string[], exitCode: number][] = [
    [['--help'], 0],
    [['--version'], 0],
    [['help', 'search'], 0],
    [['rotate'], 2],
    [['rotate', 'a', 'b'], 2],
    [['search', '--limit', 'many'], 2],
    [['top', '--by', 'colour'], 2],
    [['rules'], 2],
    [['start', '--role', 'king'], 2],
  ];
  for (const [words, wanted] of cases) t.equal((await run(idle(), words)).exitCode, wanted, words.join(' '));
});
