import { spawnSync } from 'node:child_process';
import t from 'tap';
import { completionScript } from '../../cli/completion.js';
import { buildProgram } from '../../cli/program.js';

const bash = completionScript(buildProgram(), 'bash');

/** What bash offers for the last of these words. */
function completed(...words: readonly string[]): string[] {
  const script = `${bash}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim().split('\n');
}

t.test('bash completes verbs, verbs of verbs, options and choices', (t) => {
  t.same(completed('sluice', 'sta'), ['start', 'status']);
  t.same(completed('sluice', 'rules', 'ex'), ['explain']);
  t.same(completed('sluice', 'search', '--fol'), ['--follow']);
  t.same(completed('sluice', 'rules', '--json', 'explain', '--rec'), ['--receiver']);
  t.same(completed('sluice', 'completion', 'z'), ['zsh']);
  t.end();
});

t.test('zsh and fish get scripts of their own', (t) => {
  t.match(completionScript(buildProgram(), 'zsh'), /^autoload -U \+X bashcompinit/);
  t.match(
    completionScript(buildProgram(), 'fish'),
    /complete -c sluice -n '__fish_seen_subcommand_from rules; and not __fish_seen_subcommand_from check test explain' -f -a explain/,
  );
  t.end();
});

t.test('every verb says what it does, and a wrong one is told what was meant', (t) => {
  const program = buildProgram();
  for (const command of program.commands)
    t.ok(command.description().length > 10, `${command.name()} has a description`);
  let said = '';
  program.configureOutput({
    writeErr: (text) => {
      said += text;
    },
  });
  t.throws(() => program.parse(['node', 'sluice', 'serach'], { from: 'node' }));
  t.match(said, /Did you mean search\?/);
  t.end();
});
