import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { packageRoot } from '../../../core/process/package-root.js';

const fallback = /inflated by node:zlib/;

/** A project with the script, in a folder with a space in its name, and `source` as the source of its zlib-sync. */
function createProject(
  t: Test,
  source?: string,
): { readonly run: () => { readonly status: number | null; readonly output: string }; readonly sourceFile: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice patch '));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  cpSync(join(packageRoot, 'scripts/patch-zlib-sync.js'), join(folder, 'scripts/patch-zlib-sync.js'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const sourceFile = join(folder, 'node_modules/zlib-sync/src/zlib_sync.cc');
  if (source !== undefined) {
    mkdirSync(join(sourceFile, '..'), { recursive: true });
    writeFileSync(sourceFile, source);
  }
  // No npm at this path: nothing can be built, as on a machine without a compiler.
  const env = { ...process.env, npm_execpath: join(folder, 'no-npm.js') };
  const run = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/patch-zlib-sync.js')], {
      env,
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  };
  return { run, sourceFile };
}

/** What the repairs look for in zlib-sync 0.1.10. */
const known = [
  'static NAN_METHOD(Push) {',
  'int err = inflateInit2(',
  'Nan::SetPrototypeMethod(tpl, "push", Push);',
  'Nan::SetAccessor(itpl, Nan::New<String>("err")',
].join('\n');

t.test('an installation never fails for want of zlib-sync', async (t) => {
  for (const [title, source] of [
    ['missing', undefined],
    ['another version', 'int main() {}'],
    ['no compiler', known],
  ] as const) {
    const { status, output } = createProject(t, source).run();
    t.equal(status, 0, title);
    t.match(output, fallback, title);
    t.equal(output.trim().split('\n').length, 1, title);
  }
});

t.test('the source is repaired once, however often the script runs', async (t) => {
  const { run, sourceFile } = createProject(t, known);
  run();
  const repaired = readFileSync(sourceFile, 'utf8');
  for (const part of ['inflateEnd(&stream)', 'AdjustExternalMemory', '"reset", Reset', '"remaining"'])
    t.ok(repaired.includes(part), part);
  t.equal(run().status, 0);
  t.equal(readFileSync(sourceFile, 'utf8'), repaired);
});
