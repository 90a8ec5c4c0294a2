import t from 'tap';
import { runSearch, type SearchOptions } from '../../cli/search/search.js';
import { escapeControls } from '../../cli/search/output.js';
import type { SearchHit } from '../../schemas/query.js';

const now = Date.parse('2026-03-10T12:34:56.789Z');
const hit = (n: number, more: Record<string, unknown> = {}): SearchHit => ({
  _id: `id-${n}`,
  _index: 'sluice_default_0',
  document: {
    timestamp: new Date(now - n * 1000).toISOString(),
    receive_time: new Date(now - n * 1000).toISOString(),
    source: 'node-7',
    message: `message ${n}`,
    level: 3,
    ...more,
  },
});

interface Body {
  readonly query: string;
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  readonly sort: { readonly field: string; readonly direction: string };
  readonly after?: string;
  readonly fields?: readonly string[];
}

async function run(
  options: Partial<SearchOptions>,
  answer: (body: Body, call: number) => readonly SearchHit[],
  total?: number,
  tailed: readonly (readonly SearchHit[])[] = [],
  clock = () => now,
) {
  const controller = new AbortController();
  const printed: string[] = [];
  const notes: string[] = [];
  const bodies: Body[] = [];
  const connection = {
    request: async (method: string, path: string, body: unknown) => {
      if (`${method} ${path}` !== 'POST /search') throw new Error(path);
      bodies.push(body as Body);
      const hits = answer(body as Body, bodies.length);
      return {
        total: total ?? hits.length,
        hits,
        next: `after ${hits.at(-1)?._id}`,
        failures: total === undefined ? [] : [{ index: 'sluice_default_9', reason: 'it is closed' }],
      };
    },
    stream: async (path: string, body: unknown, onLine: (line: unknown) => void | Promise<void>) => {
      if (path !== '/tail') throw new Error(path);
      bodies.push(body as Body);
      await onLine({ begun: true });
      for (const hits of tailed) await onLine({ hits });
    },
  };
  const terminal = {
    print: (line: string) => printed.push(line),
    note: (line: string) => notes.push(line),
    color: false,
    now: clock,
    signal: controller.signal,
  };
  const exitCode = await runSearch({ query: '', ...options }, connection, terminal);
  return { exitCode, printed, notes, bodies };
}

t.test('a search asks for the last 15 minutes, 100 at most, newest first', async (t) => {
  const { exitCode, printed, notes, bodies } = await run({ query: 'level:3' }, () => [hit(1), hit(2)]);
  t.equal(exitCode, 0);
  t.match(bodies[0], {
    query: 'level:3',
    from: now - 900_000,
    to: now + 1,
    limit: 100,
    sort: { field: 'timestamp', direction: 'desc' },
  });
  t.same(printed, [
    '2026-03-10T12:34:55.789Z  ERROR   node-7  message 1',
    '2026-03-10T12:34:54.789Z  ERROR   node-7  message 2',
  ]);
  t.same(notes, ['2 messages.']);
});

t.test('no hit exits with 0 and says so, unless it is to be quiet', async (t) => {
  t.match(await run({}, () => []), { exitCode: 0, printed: [], notes: ['No message matches.'] });
  t.match(await run({ quiet: true }, () => []), { exitCode: 0, notes: [] });
});

t.test('a query that cannot be read exits with 2, with a caret under the place, and asks nothing', async (t) => {
  const { exitCode, notes, bodies } = await run({ query: 'a AND (b' }, () => []);
  t.equal(exitCode, 2);
  t.match(notes[0], /^a AND \(b\n {6}\^\n/);
  t.equal(bodies.length, 0);
});

t.test('a query may be as large as the settings say', async (t) => {
  t.match(await run({ query: ' '.repeat(70_000) }, () => []), { exitCode: 2, bodies: [] });
  t.match(await run({ query: ' '.repeat(70_000), allowed: { maxLength: 80_000 } }, () => []), { exitCode: 0 });
});

t.test('--json prints one flat document a line that reads back as it was', async (t) => {
  const odd = { message: 'a\u009b2J\u202e\n"ü', __proto__x: 1, timestamp: now };
  const { printed } = await run({ json: true }, () => [hit(1, odd)]);
  t.notMatch(printed[0], /[\p{Cc}\p{Cf}]/u);
  t.same(JSON.parse(printed[0] ?? ''), {
    _id: 'id-1',
    _index: 'sluice_default_0',
    ...hit(1).document,
    ...odd,
    timestamp: '2026-03-10T12:34:56.789Z',
  });
});

t.test('--fields prints these fields only', async (t) => {
  const plain = await run({ fields: 'level, user' }, () => [hit(1)]);
  t.same(plain.printed, ['level=3  user=-']);
  t.same(plain.bodies[0]?.fields, ['level', 'user', 'timestamp', 'receive_time']);
  t.same((await run({ fields: 'level', json: true }, () => [hit(1)])).printed, [
    '{"_id":"id-1","_index":"sluice_default_0","level":3}',
  ]);
});

t.test('what a sender wrote cannot command the terminal', async (t) => {
  const { printed } = await run({}, () => [hit(1, { message: 'a\u001b[2Jb\nc\u202ed\ud800', source: 'x\u0007' })]);
  t.match(printed[0], 'x\\u{7}  a\\u{1b}[2Jb\\nc\\u{202e}d\\u{d800}');
  t.equal(escapeControls('größe 😀'), 'größe 😀');
});

t.test('a large limit is fetched page by page', async (t) => {
  const { printed, bodies, notes } = await run(
    { limit: 1500 },
    (body, call) => Array.from({ length: body.limit }, (_, at) => hit((call - 1) * 1000 + at)),
    5000,
  );
  t.equal(printed.length, 1500);
  t.same(
    bodies.map((body) => body.limit),
    [1000, 500],
  );
  t.equal(bodies[1]?.after, 'after id-999');
  t.same(notes, ['1500 of 5000 messages; --limit shows more.', 'Not searched: sluice_default_9, since it is closed.']);
});

t.test('--follow prints the newest, oldest first, then each later one once', async (t) => {
  const { printed, exitCode, bodies } = await run(
    { query: 'level:3 x', follow: true, json: true, fields: 'message' },
    () => [hit(1), hit(2)],
    undefined,
    [[hit(2), hit(0)], [hit(-1)]],
  );
  t.equal(exitCode, 0);
  t.same(
    printed.map((line) => (JSON.parse(line) as { message: string }).message),
    ['message 2', 'message 1', 'message 0', 'message -1'],
  );
  t.match(bodies, [
    { query: 'level:3 x', fields: ['message', 'timestamp', 'receive_time'] },
    { query: 'level:3 x', limit: 10, sort: { field: 'timestamp', direction: 'desc' } },
  ]);
});

t.test('--last ends now, --last all does not, and --follow begins where the tail does', async (t) => {
  const range = ({ from, to }: Partial<Body> = {}) => [from, to];
  t.same(range((await run({ last: '5m' }, () => [])).bodies[0]), [now - 300_000, now + 1]);
  t.same(range((await run({ last: 'all' }, () => [])).bodies[0]), [undefined, undefined]);
  t.same(range((await run({ from: 'now-1h' }, () => [])).bodies[0]), [now - 3_600_000, undefined]);
  let time = now;
  const { bodies } = await run(
    { last: '5m', follow: true },
    () => [hit(1)],
    undefined,
    [[hit(0)]],
    () => (time += 7_000),
  );
  t.same(
    bodies.map(range),
    [
      [undefined, undefined],
      [time - 300_000, time + 1],
    ],
    'what came while the tail began is in the first answer',
  );
});

t.test('a wrong time range is a typed error', async (t) => {
  await t.rejects(
    run({ last: 'soon' }, () => []),
    { code: 'SEARCH_TIME_RANGE' },
  );
});
