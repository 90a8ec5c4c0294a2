import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readRuleSource, versionOf } from '../../../rules/loading/source.js';
import { watchRuleFiles, type FilesChange, type WatchOptions } from '../../../rules/loading/watch.js';

const good = (id: string) => `streams: [{id: ${id}}]\n`;

function createFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The changes, each awaited by `next`. */
function watching(t: Test, folder: string, options: WatchOptions): { readonly next: () => Promise<FilesChange> } {
  const waiting: ((change: FilesChange) => void)[] = [];
  const seen: FilesChange[] = [];
  const close = watchRuleFiles(
    folder,
    (change) => {
      const resolve = waiting.shift();
      if (resolve === undefined) seen.push(change);
      else resolve(change);
    },
    { defaults: false, quietMs: 20, pollMs: 50, ...options },
  );
  // Watching keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => {
    clearInterval(alive);
    close();
  });
  return {
    next: () =>
      new Promise((resolve) => {
        const change = seen.shift();
        if (change === undefined) waiting.push(resolve);
        else resolve(change);
      }),
  };
}

function namesOf(change: FilesChange): readonly string[] | undefined {
  return 'source' in change ? change.source.files.map(({ name }) => name) : undefined;
}

t.test('a change is told once, as a whole', async (t) => {
  const folder = createFolder(t);
  writeFileSync(join(folder, 'a.yaml'), good('one'));
  const { next } = watching(t, folder, { version: versionOf(await readRuleSource(folder, { defaults: false })) });
  writeFileSync(join(folder, 'b.yaml'), good('two'));
  t.same(namesOf(await next()), ['a.yaml', 'b.yaml']);
  rmSync(join(folder, 'b.yaml'));
  t.same(namesOf(await next()), ['a.yaml']);
});

t.test('a folder that appears later is found by polling', async (t) => {
  const folder = join(createFolder(t), 'later');
  const { next } = watching(t, folder, {});
  t.same(namesOf(await next()), [], 'a folder that is not there is empty');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), good('one'));
  t.same(namesOf(await next()), ['a.yaml']);
});

t.test('a folder that cannot be read is told once', async (t) => {
  const file = join(createFolder(t), 'file');
  writeFileSync(file, 'x');
  const { next } = watching(t, file, {});
  const change = await next();
  t.ok('error' in change);
});

t.test('shipped files come first, then the folder by name; other files are left alone', async (t) => {
  const folder = createFolder(t);
  for (const name of ['b.yaml', 'a.yml', 'note.txt', '.hidden.yaml']) writeFileSync(join(folder, name), '');
  const { files } = await readRuleSource(folder, { defaults: true });
  t.same(files.map((file) => file.name).slice(-2), ['a.yml', 'b.yaml']);
  t.ok(files[0]?.name.startsWith('defaults/10-'));
  t.match(versionOf({ files }), /^[0-9a-f]{12}$/);
});
