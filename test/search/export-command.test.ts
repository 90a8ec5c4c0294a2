import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import type { ExportBody, ExportLine } from '../../api/control/search.js';
import { runExport, type ExportFlags } from '../../cli/export.js';

const now = Date.parse('2026-03-10T12:34:56.789Z');

async function run(test: Test, flags: Partial<ExportFlags>, lines: readonly ExportLine[], interruptAfter = Infinity) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-export-'));
  test.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'out.csv');
  const notes: string[] = [];
  const bodies: ExportBody[] = [];
  const controller = new AbortController();
  const output = new PassThrough();
  const control = {
    stream: async (method: string, path: string, body: unknown, onLine: (line: unknown) => void | Promise<void>) => {
      if (`${method} ${path}` !== 'POST /export') throw new Error(path);
      bodies.push(body as ExportBody);
      for (const [at, line] of lines.entries()) {
        if (at === interruptAfter) controller.abort();
        if (controller.signal.aborted) return;
        await onLine(line);
      }
    },
  };
  const terminal = { output, note: (line: string) => notes.push(line), progress: undefined, now: () => now, signal: controller.signal };
  const outcome = await runExport({ query: '', output: file, ...flags }, control, terminal).catch((thrown: unknown) => thrown as Error);
  const written = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return { outcome, notes, bodies, written, leftover: existsSync(`${file}.part`), shown: String(output.read() ?? '') };
}

const whole: readonly ExportLine[] = [{ total: 3 }, { text: '"a"\n"1"\n', rows: 1 }, { text: '"2"\n"3"\n', rows: 2 }, { done: true }];

t.test('a whole export becomes a file', async (t) => {
  const { outcome, notes, bodies, written, leftover } = await run(t, { query: 'level:3', fields: 'a, b', sort: 'a:asc', indexSet: 'x,y', limit: 7 }, whole);
  t.equal(outcome, 0);
  t.equal(written, '"a"\n"1"\n"2"\n"3"\n');
  t.notOk(leftover);
  t.same(notes, ['3 messages.']);
  t.same(bodies, [{ query: 'level:3', from: now - 900_000, limit: 7, sort: { field: 'a', direction: 'asc' }, fields: ['a', 'b'], index_sets: ['x', 'y'] }]);
});

t.test('without a file it goes to standard output', async (t) => {
  t.match(await run(t, { output: undefined, quiet: true, last: 'all', sort: 'k8s.app:desc' }, whole), { outcome: 0, shown: '"a"\n"1"\n"2"\n"3"\n', notes: [], bodies: [{ sort: { field: 'k8s.app', direction: 'desc' } }] });
});

t.test('an interrupted one leaves no file', async (t) => {
  t.match(await run(t, {}, whole, 2), { outcome: 130, written: undefined, leftover: false, notes: ['Interrupted after 1 messages; the file was removed.'] });
});

t.test('one that fails on the way leaves no file and says why', async (t) => {
  t.match(await run(t, {}, [...whole.slice(0, 2), { error: { type: 'STORE_INDEX_MISSING', message: 'This index does not exist.' } }]), { outcome: { code: 'STORE_INDEX_MISSING' }, written: undefined, leftover: false });
  t.match(await run(t, {}, whole.slice(0, 2)), { outcome: { code: 'SEARCH_CANCELLED' }, written: undefined, leftover: false });
});

t.test('a file that cannot be written is an error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-export-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'file'), '');
  t.match(await run(t, { output: join(folder, 'file', 'out.csv') }, whole), { outcome: { code: 'ENOTDIR' } });
});

t.test('a query that cannot be read exits with 2 and asks nothing', async (t) => {
  t.match(await run(t, { query: 'a AND (b' }, whole), { outcome: 2, bodies: [], notes: [/^a AND \(b\n {6}\^\n/] });
});
