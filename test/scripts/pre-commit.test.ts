import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { packageRoot } from '../../core/process/package-root.js';

const hasGit = spawnSync('git', ['--version']).status === 0;
const options = hasGit ? {} : { skip: 'git is not installed' };

/** A checkout with our hooks, our formatter and a linter with one rule. */
function checkout(t: Test): {
  readonly folder: string;
  readonly git: (...parameters: string[]) => ReturnType<typeof spawnSync>;
  readonly write: (name: string, text: string) => void;
} {
  const folder = t.testdir();
  mkdirSync(join(folder, 'scripts'));
  for (const path of ['.githooks', 'scripts/pre-commit.js', 'scripts/link-hooks.js', 'biome.json'])
    cpSync(join(packageRoot, path), join(folder, path), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('.gitignore', 'node_modules\n');
  write(
    'eslint.config.js',
    "import tseslint from 'typescript-eslint';\nexport default tseslint.config({ files: ['**/*.ts'], " +
      "languageOptions: { parser: tseslint.parser }, rules: { 'no-debugger': 'error' } });\n",
  );
  write('package.json', '{ "type": "module" }\n');
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  const git = (...parameters: string[]) =>
    spawnSync('git', [...author, ...parameters], { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet');
  spawnSync(process.execPath, ['scripts/link-hooks.js'], { cwd: folder });
  return { folder, git, write };
}

t.test('an install sets the hooks, and leaves those that somebody has set', options, (t) => {
  const { folder, git } = checkout(t);
  t.equal(String(git('config', 'core.hooksPath').stdout).trim(), '.githooks');
  git('config', 'core.hooksPath', 'mine');
  spawnSync(process.execPath, ['scripts/link-hooks.js'], { cwd: folder });
  t.equal(String(git('config', 'core.hooksPath').stdout).trim(), 'mine');
  t.end();
});

t.test('a commit formats what is staged', options, (t) => {
  const { folder, git, write } = checkout(t);
  write('source.ts', 'export const one   =  1');
  git('add', 'source.ts');
  const { status, stderr } = git('commit', '--message', 'One');
  t.equal(status, 0, String(stderr));
  t.equal(git('show', 'HEAD:source.ts').stdout, 'export const one = 1;\n');
  t.equal(readFileSync(join(folder, 'source.ts'), 'utf8'), 'export const one = 1;\n');
  t.end();
});

t.test('a commit fails with what the linter finds', options, (t) => {
  const { git, write } = checkout(t);
  write('source.ts', 'debugger;\n');
  git('add', 'source.ts');
  const { status, stdout, stderr } = git('commit', '--message', 'Wrong');
  t.not(status, 0);
  t.match(`${String(stdout)}${String(stderr)}`, /no-debugger/);
  t.end();
});

t.test('a file that is staged in part keeps its other part out of the commit', options, (t) => {
  const { git, write } = checkout(t);
  write('source.ts', 'export const one = 1;\n');
  git('add', 'source.ts');
  write('source.ts', 'export const one = 1;\nexport const two = 2;\n');
  const { status, stderr } = git('commit', '--message', 'One');
  t.equal(status, 0, String(stderr));
  t.equal(git('show', 'HEAD:source.ts').stdout, 'export const one = 1;\n');
  t.end();
});
