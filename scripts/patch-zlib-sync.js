/**
 * Repairs zlib-sync 0.1.10 after installation: as published it never frees a stream (about 8 kB lost with each
 * instance) and cannot be reused. Adds a destructor with a hint to the garbage collector, `reset()`, and `remaining`
 * (input bytes left after the end of a stream), and builds it again. Never fails the installation: where zlib-sync or a
 * C++ compiler is missing, Sluice inflates with node:zlib. Safe to run any number of times.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'node_modules', 'zlib-sync');
const sourceFile = join(folder, 'src', 'zlib_sync.cc');

const held = '(int) (chunk_size + 8192)';
const repairs = [
  [
    'static NAN_METHOD(Push) {',
    `~ZlibSyncInflate() {
            inflateEnd(&stream);
            Nan::AdjustExternalMemory(-${held});
        }

        static NAN_METHOD(Reset) {
            ZlibSyncInflate* self = ObjectWrap::Unwrap<ZlibSyncInflate>(info.This());
            inflateReset(&self->stream);
            self->stream.avail_in = 0;
            self->total_out = 0;
            self->err = 0;
            self->result_size = 0;
        }

        static NAN_GETTER(GetRemaining) {
            ZlibSyncInflate* self = ObjectWrap::Unwrap<ZlibSyncInflate>(info.This());

            info.GetReturnValue().Set(self->stream.avail_in);
        }

        static NAN_METHOD(Push) {`,
  ],
  [
    'int err = inflateInit2(',
    `Nan::AdjustExternalMemory(${held});
            int err = inflateInit2(`,
  ],
  [
    'Nan::SetPrototypeMethod(tpl, "push", Push);',
    `Nan::SetPrototypeMethod(tpl, "push", Push);
            Nan::SetPrototypeMethod(tpl, "reset", Reset);`,
  ],
  [
    'Nan::SetAccessor(itpl, Nan::New<String>("err")',
    `Nan::SetAccessor(itpl, Nan::New<String>("remaining").ToLocalChecked(), GetRemaining);
            Nan::SetAccessor(itpl, Nan::New<String>("err")`,
  ],
];

/** The repaired source; undefined when the source is not the one that the repairs were written for. */
function repaired(source) {
  if (source.includes('NAN_METHOD(Reset)')) return source;
  let text = source;
  for (const [before, after] of repairs) {
    if (text.split(before).length !== 2) return undefined;
    text = text.replace(before, () => after);
  }
  return text;
}

/** In a process of its own, since a loaded build cannot be loaded anew. */
function works() {
  const probe =
    'const { Inflate } = require(process.argv[1]); const i = new Inflate({ windowBits: 47 }); i.reset(); process.exit(i.remaining === 0 ? 0 : 1)';
  return spawnSync(process.execPath, ['-e', probe, folder], { stdio: 'ignore' }).status === 0;
}

function rebuild() {
  const npm = process.env.npm_execpath;
  const [command, first] = npm !== undefined && npm.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  return (
    spawnSync(command, [...first, 'rebuild', 'zlib-sync'], {
      cwd: root,
      stdio: 'ignore',
      shell: process.platform === 'win32',
    }).status === 0
  );
}

function repair() {
  if (!existsSync(sourceFile))
    return 'zlib-sync is not installed (no C++ compiler?): gzip and zlib are inflated by node:zlib, which needs nothing else.';
  const source = readFileSync(sourceFile, 'utf8');
  const text = repaired(source);
  if (text === undefined)
    return 'This zlib-sync is not the version that the repair knows: gzip and zlib are inflated by node:zlib.';
  if (text !== source) writeFileSync(sourceFile, text);
  else if (works()) return undefined;
  return rebuild() && works()
    ? undefined
    : 'zlib-sync could not be built here: gzip and zlib are inflated by node:zlib, which needs nothing else.';
}

let note;
try {
  note = repair();
} catch (error) {
  note = `zlib-sync was left as it is (${error instanceof Error ? error.message : String(error)}): gzip and zlib are inflated by node:zlib.`;
}
if (note !== undefined) process.stdout.write(`${note}\n`);
