import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../core/process/package-root.js';

t.test('the generated reference pages say what the code declares', (t) => {
  t.doesNotThrow(
    () => execFileSync(process.execPath, [join(packageRoot, 'scripts/generate-docs.js'), '--check'], { stdio: 'pipe' }),
    'run `npm run docs`',
  );
  t.end();
});

/** Every page but those that are generated from the code. */
const pages = [
  ...readdirSync(packageRoot).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(packageRoot, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ...readdirSync(join(packageRoot, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
];

t.test('every link between the pages leads somewhere', (t) => {
  for (const page of pages) {
    const text = readFileSync(join(packageRoot, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      t.ok(existsSync(join(packageRoot, dirname(page), target as string)), `${page}: ${target}`);
  }
  t.end();
});

t.test('prose keeps to lines that can be read in any editor', (t) => {
  for (const page of pages) {
    const text = readFileSync(join(packageRoot, page), 'utf8')
      .replaceAll(/```[\s\S]*?```/g, '')
      .replaceAll(/<!-- (formats|results):[\s\S]*?<!-- end of [\s\S]*?-->/g, '');
    const long = text.split('\n').filter((line) => line.length > 160 && !line.startsWith('|'));
    t.same(long, [], page);
  }
  t.end();
});

t.test('the files and folders that are named are there', (t) => {
  for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
    const text = readFileSync(join(packageRoot, page), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
    for (const [, path] of text.matchAll(/`((?:[\w.-]+\/)+(?:[\w.-]+\.\w+)?)`/g)) {
      if (/^(?:build|data)\//.test(path as string)) continue;
      t.ok(existsSync(join(packageRoot, path as string)), `${page}: ${path}`);
    }
  }
  t.end();
});

t.test('the tour shows each way in at most 20 files', (t) => {
  const text = readFileSync(join(packageRoot, 'ARCHITECTURE.md'), 'utf8');
  for (const way of ['One message', 'One query', 'One rule edit']) {
    const section = text.split(`### ${way}\n`)[1]?.split('\n#')[0] ?? '';
    const files = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file as string);
    t.same(
      files.filter((file) => !existsSync(join(packageRoot, file))),
      [],
      `${way}: every file is there`,
    );
    t.ok(files.length > 10 && files.length <= 20, `${way}: ${files.length} files`);
    t.comment(`${way}: ${files.length} files`);
  }
  t.end();
});
