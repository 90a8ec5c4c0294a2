/** Formats the staged files, stages them again, and lints them. Fails the commit where the linter finds something. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = execFileSync('git', ['rev-parse', '--show-toplevel'], { encoding: 'utf8' }).trim();
const git = (...parameters) => execFileSync('git', parameters, { cwd: root, encoding: 'utf8' });
const names = (...parameters) =>
  git(...parameters, '--name-only', '-z')
    .split('\0')
    .filter((name) => /\.(ts|js|json)$/.test(name));

function tool(path, parameters) {
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', path), ...parameters], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}

const biome = (...parameters) =>
  tool('@biomejs/biome/bin/biome', ['format', '--no-errors-on-unmatched', ...parameters]);

const staged = names('diff', '--cached', '--diff-filter=ACMR');
// A file that is staged in part is only checked: formatting it would stage the rest of it, too.
const inPart = new Set(names('diff'));
const whole = staged.filter((name) => !inPart.has(name));
const parts = staged.filter((name) => inPart.has(name));

let passes = true;
if (whole.length > 0) {
  passes = biome('--write', ...whole);
  git('add', '--', ...whole);
}
if (parts.length > 0) passes = biome(...parts) && passes;
const sources = staged.filter((name) => name.endsWith('.ts'));
if (sources.length > 0) passes = tool('eslint/bin/eslint.js', [...sources]) && passes;
process.exitCode = passes ? 0 : 1;
