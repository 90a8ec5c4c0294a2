import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import t, { type Test } from 'tap';
import type { ExportBody, ExportLine } from '../../api/control/search.js';
import { runExport, type ExportFlags } from '../../cli/search/export.js';

const now = Date.parse('2026-03-10T12:34:56.789Z');

/** A file on a disk without space. */
const full = 'full';

async function run(
  test: Test,
  flags: Partial<ExportFlags>,
  lines: readonly ExportLine[],
  interruptAfter = Infinity,
  output: PassThrough | Writable = new PassThrough(),
) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-export-'));
  test.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'out.csv');
  if (flags.output === full) symlinkSync('/dev/full', `${file}.part`);
  const notes: string[] = [];
  const bodies: ExportBody[] = [];
  const controller = new AbortController();
  const control = {
    stream: async (path: string, body: unknown, onLine: (line: unknown) => void | Promise<void>) => {
      if (path !== '/export') throw new Error(path);
      bodies.push(body as ExportBody);
      for (const [at, line] of lines.entries()) {
        if (at === interruptAfter) controller.abort();
        if (controller.signal.aborted) return;
        await onLine(line);
      }
    },
  };
  const terminal = {
    output,
    note: (line: string) => notes.push(line),
    progress: undefined,
    now: () => now,
    signal: controller.signal,
  };
  const outcome = await runExport(
    { query: '', ...flags, output: flags.output === full ? file : 'output' in flags ? flags.output : file },
    control,
    terminal,
  ).catch((thrown: unknown) => thrown as Error);
  const written = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return {
    outcome,
    notes,
    bodies,
    written,
    leftover: existsSync(`${file}.part`),
    shown: output instanceof PassThrough ? String(output.read() ?? '') : '',
  };
}

const whole: readonly ExportLine[] = [
  { total: 3 },
  { text: '"a"\n"1"\n', rows: 1 },
  { text: '"2"\n"3"\n', rows: 2 },
  { done: true },
];

t.test('a whole export becomes a file', async (t) => {
  const { outcome, notes, bodies, written, leftover } = await run(
    t,
    { query: 'level:3', fields: 'a, b', sort: 'a:asc', indexSet: 'x,y', limit: 7 },
    whole,
  );
  t.equal(outcome, 0);
  t.equal(written, '"a"\n"1"\n"2"\n"3"\n');
  t.notOk(leftover);
  t.same(notes, ['3 messages.']);
  t.same(bodies, [
    {
      query: 'level:3',
      from: now - 900_000,
      to: now + 1,
      limit: 7,
      sort: { field: 'a', direction: 'asc' },
      fields: ['a', 'b'],
      index_sets: ['x', 'y'],
    },
  ]);
});

t.test('without a file it goes to standard output', async (t) => {
  t.match(await run(t, { output: undefined, quiet: true, last: 'all', sort: 'k8s.app:desc' }, whole), {
    outcome: 0,
    shown: '"a"\n"1"\n"2"\n"3"\n',
    notes: [],
    bodies: [{ sort: { field: 'k8s.app', direction: 'desc' } }],
  });
});

t.test('an interrupted one leaves no file', async (t) => {
  t.match(await run(t, {}, whole, 2), {
    outcome: 130,
    written: undefined,
    leftover: false,
    notes: ['Interrupted after 1 messages; the file was removed.'],
  });
});

t.test('one that fails on the way leaves no file and says why', async (t) => {
  t.match(
    await run(t, {}, [
      ...whole.slice(0, 2),
      { error: { type: 'STORE_INDEX_MISSING', message: 'This index does not exist.' } },
    ]),
    { outcome: { code: 'STORE_INDEX_MISSING' }, written: undefined, leftover: false },
  );
  t.match(await run(t, {}, whole.slice(0, 2)), {
    outcome: { code: 'SEARCH_CANCELLED' },
    written: undefined,
    leftover: false,
  });
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

t.test('the order is a field with asc or desc in any case, and nothing else', async (t) => {
  for (const [sort, field, direction] of [
    ['n', 'n', 'desc'],
    ['n:ASC', 'n', 'asc'],
    ['n:Desc', 'n', 'desc'],
    ['a:b.c:asc', 'a:b.c', 'asc'],
  ] as const)
    t.match(await run(t, { sort }, whole), { outcome: 0, bodies: [{ sort: { field, direction } }] }, sort);
  for (const sort of ['n:sideways', 'n:asx', 'n:', 'n:asc:', '']) {
    const { outcome, bodies } = await run(t, { sort }, whole);
    t.match(
      outcome,
      {
        code: 'SEARCH_SORT_ORDER',
        message: `--sort: The order cannot be read. Got ${JSON.stringify(sort)}. Allowed: field:asc or field:desc.`,
      },
      sort,
    );
    t.same(bodies, [], 'nothing is asked');
  }
});

t.test('a slow output is waited for, and nothing stays behind on it', async (t) => {
  const output = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => setImmediate(done) });
  let most = 0;
  const pieces = Array.from(
    { length: 100 },
    (_, at): ExportLine => ({
      text: `"${at}"\n`,
      get rows() {
        most = Math.max(most, output.listenerCount('close'), output.listenerCount('drain'));
        return 1;
      },
    }),
  );
  t.match(await run(t, { output: undefined }, [{ total: 100 }, ...pieces, { done: true }], undefined, output), {
    outcome: 0,
    notes: ['100 messages.'],
  });
  t.ok(most <= 1, `${most} listeners`);
});

t.test(
  'an output that fails or closes ends the export with its error, and leaves no file',
  { timeout: 60_000 },
  async (t) => {
    const piece: ExportLine = { text: '"x"\n'.repeat(100_000), rows: 100_000 };
    for (const pieces of [[piece, piece, piece], [{ text: '"x"\n', rows: 1 }]]) {
      t.match(
        await run(t, { output: full }, [{ total: 1 }, ...pieces, { done: true }]),
        { outcome: { code: 'ENOSPC' }, written: undefined, leftover: false },
        `${pieces.length} pieces`,
      );
    }
    const failing = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('gone'), { code: 'EIO' })),
    });
    t.match(await run(t, { output: undefined }, [...whole.slice(0, 3), piece, { done: true }], undefined, failing), {
      outcome: { code: 'EIO' },
    });
    const closed = new Writable({ highWaterMark: 1, write: () => undefined });
    closed.destroy();
    t.match(await run(t, { output: undefined }, whole, undefined, closed), {
      outcome: { code: 'ERR_STREAM_PREMATURE_CLOSE' },
    });
  },
);
