import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { rulesCheck, rulesExplain, rulesTest } from '../../../cli/tools/rules.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-cli-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const none = join(folder, 'none');
const gelf = JSON.stringify({
  version: '1.1',
  host: 'fb',
  short_message: 'paid [logType=int]',
  _namespace: 'shop',
  _pod: 'pay-1',
  _container: 'pay',
  _labels_app: 'pay',
});
async function* input(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

t.test('check says what would be loaded, exit code 0', async (t) => {
  const { text, exitCode } = await rulesCheck({ folder: none });
  t.match(text, /^The rule files are valid: \d+ files, \d+ rules, 8 streams, 7 index sets; version [0-9a-f]{12}\.$/);
  t.equal(exitCode, 0);
  t.match(JSON.parse((await rulesCheck({ folder: none, json: true })).text), { valid: true, streams: 8, problems: [] });
});

t.test('check lists mistakes, exit code 2', async (t) => {
  const bad = join(folder, 'bad');
  mkdirSync(bad);
  writeFileSync(join(bad, 'x.yaml'), 'streams:\n  - {id: s, index_set: sluice_audti}\n');
  const { text, exitCode } = await rulesCheck({ folder: bad });
  t.equal(exitCode, 2);
  t.match(text, 'x.yaml:2:24 streams[0].index_set: There is no index set of this id. Got "sluice_audti".');
  t.match(text, 'Did you mean sluice_audit?\n1 problem; nothing would be loaded.');
  t.match(JSON.parse((await rulesCheck({ folder: bad, json: true })).text), {
    valid: false,
    problems: [{ line: 2, column: 24, suggestion: 'sluice_audit' }],
  });
  t.equal((await rulesTest({ folder: bad, file: '-', input: input(gelf) })).exitCode, 2);
});

t.test('test shows the outcome of a GELF message from standard input', async (t) => {
  const { text, exitCode } = await rulesTest({ folder: none, file: '-', input: input(gelf), color: false });
  t.equal(exitCode, 0);
  t.match(text, /streams +integration-logs\nindex sets +sluice_integration/);
  t.match(text, '+ labels-app = "pay"');
  t.match(text, '- labels_app');
  t.notMatch(text, '\u001b');
});

t.test('test takes a stored document from a file', async (t) => {
  const file = join(folder, 'stored.json');
  writeFileSync(
    file,
    JSON.stringify({
      _id: 'x',
      _index: 'i',
      source: 'n',
      message: 'm',
      timestamp: '2026-01-02T03:04:05.678Z',
      receive_time: '2026-01-02T03:04:05.700Z',
      receiver: 'gelf-udp',
      streams: ['all-messages'],
      log_id: 'audit',
    }),
  );
  const result = JSON.parse((await rulesTest({ folder: none, file, json: true })).text) as {
    routing: unknown;
    document: Record<string, unknown>;
    microseconds: number;
  };
  t.same(result.routing, { streams: ['audit-logs'], indexSets: ['sluice_audit'], dropped: false });
  t.equal(result.document['timestamp'], '2026-01-02T03:04:05.678Z');
  t.notOk('_id' in result.document);
  t.ok(result.microseconds > 0);
});

t.test('explain says for every rule and stream why, with colours when asked', async (t) => {
  const { text } = await rulesExplain({ folder: none, file: '-', input: input(gelf), color: false });
  t.match(
    text,
    'application-id: matched (defaults/30-fields.yaml)\n  yes all of\n    yes namespace exists (found "shop")',
  );
  t.match(text, 'facility: not matched (defaults/30-fields.yaml)\n  no  transmitter exists (found missing)');
  t.match(text, 'bracket-pairs: not enabled');
  t.match(text, 'application-logs: no, its condition holds, but the message left All messages');
  t.match((await rulesExplain({ folder: none, file: '-', input: input(gelf), color: true })).text, '\u001b[32mmatched');
  const json = JSON.parse((await rulesExplain({ folder: none, file: '-', input: input(gelf), json: true })).text) as {
    rules: { id: string; state: string }[];
  };
  t.equal(json.rules.find((rule) => rule.id === 'labels-fields')?.state, 'matched');
});

t.test('a message that is none is one sentence, exit code 2', async (t) => {
  for (const text of ['', 'hello', '{"host":"x"}']) {
    const result = await rulesTest({ folder: none, file: '-', input: input(text) });
    t.equal(result.exitCode, 2, result.text);
    t.ok(result.text.startsWith('-: '));
  }
  t.equal((await rulesTest({ folder: none, file: join(folder, 'missing.json') })).exitCode, 2);
});
