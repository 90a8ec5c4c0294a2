import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../core/package-root.js';

t.test('the generated reference pages say what the code declares', (t) => {
  t.doesNotThrow(
    () => execFileSync(process.execPath, [join(packageRoot, 'scripts/generate-docs.js'), '--check'], { stdio: 'pipe' }),
    'run `npm run docs`',
  );
  t.end();
});

t.test('every link between the pages leads somewhere', (t) => {
  for (const page of [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'docs/search.md',
    'docs/delivery.md',
    'docs/rules.md',
  ]) {
    const text = readFileSync(join(packageRoot, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      t.ok(existsSync(join(packageRoot, dirname(page), target as string)), `${page}: ${target}`);
  }
  t.end();
});
