/**
 * A newer version of the program, for tests: a copy of this build with another package version and with formats raised
 * to version 2.
 */
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import type { formatVersions } from '../../core/formats/versions.js';
import { packageRoot } from '../../core/process/package-root.js';

export const newerVersion = '0.2.0-test';

/** The minimum reader of version 2 by format: 1 when programs that know only version 1 may go on. */
type RaisedFormats = Partial<Record<keyof typeof formatVersions, 1 | 2>>;

interface Teardown {
  teardown(action: () => void): void;
}

/** Resolves to the command line of the newer program. */
export function createNewerProgram(t: Teardown, raised: RaisedFormats): string {
  const root = mkdtempSync(join(tmpdir(), 'sluice-newer-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const build = join(import.meta.dirname, '..', '..');
  const left = new Set(['test', 'bench'].map((folder) => join(build, folder)));
  cpSync(build, join(root, 'build'), {
    recursive: true,
    filter: (source) => !left.has(source) && !source.endsWith('.map') && !source.includes(`${sep}.`),
  });
  for (const name of ['node_modules', 'rules']) symlinkSync(join(packageRoot, name), join(root, name));
  const description = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as object;
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...description, version: newerVersion }));
  const raise = Object.entries(raised).map(
    ([name, minimumReader]) =>
      `formatVersions.${name}.versions.push({ version: 2, minimumReader: ${minimumReader}, since: '${newerVersion}', what: 'a test' });\n`,
  );
  appendFileSync(join(root, 'build/core/formats/versions.js'), `\n${raise.join('')}`);
  if (readdirSync(join(root, 'build')).length === 0) throw new Error(`nothing was copied from ${build}`);
  return join(root, 'build/cli.js');
}
