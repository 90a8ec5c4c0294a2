/** Compiles to build/ when a source is newer than the last build. `--force` compiles always. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'build', '.stamp');
const left = new Set(['node_modules', 'data', '.git', '.tap', 'docs', 'examples']);

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (left.has(entry.name) || entry.name.startsWith('build')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) latest = Math.max(latest, newest(path));
    else if (/\.ts$|^tsconfig\.json$|^package-lock\.json$/.test(entry.name))
      latest = Math.max(latest, statSync(path).mtimeMs);
  }
  return latest;
}

function sources(folder, found = new Set(), prefix = '') {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (prefix === '' && (left.has(entry.name) || entry.name.startsWith('build'))) continue;
    if (entry.isDirectory()) sources(join(folder, entry.name), found, `${prefix}${entry.name}/`);
    else if (entry.name.endsWith('.ts')) found.add(`${prefix}${entry.name.slice(0, -3)}`);
  }
  return found;
}

/** A test whose source is gone must not run on. */
function removeStale(folder, known, prefix = '') {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeStale(path, known, `${prefix}${entry.name}/`);
    else if (/\.js(\.map)?$/.test(entry.name) && !known.has(`${prefix}${entry.name.replace(/\.js(\.map)?$/, '')}`))
      rmSync(path);
  }
}

const force = process.argv.includes('--force');
if (force || !existsSync(stamp) || Number(readFileSync(stamp, 'utf8')) < newest(root)) {
  const started = Date.now();
  const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
  const { status } = spawnSync(process.execPath, [compiler, '-p', root], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  removeStale(join(root, 'build'), sources(root));
  writeFileSync(stamp, String(started));
}
