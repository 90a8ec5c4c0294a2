/**
 * Dead letters as an operator meets them, on the embedded engines: seen, shown, replayed after their cause is gone,
 * dropped.
 */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { DeadLetterFlags } from '../../../cli/dead-letters/run.js';
import { receiversOnFreePorts, startProgram, testFolder, workedOff } from '../../program.js';
import {
  deadLettersVerb,
  listDeadLetters,
  search,
  sendDatagrams,
  sendFrames,
  sluice,
  untilDeadLetters,
} from './verb.js';

t.setTimeout(120_000);

const message = (text: string): string => JSON.stringify({ version: '1.1', host: 'letters', short_message: text });
/** Too large after inflation for the small limit. */
const large = (text: string): Buffer => gzipSync(message(`${text} ${randomBytes(1500).toString('hex')}`));
const receivers = (maxInflatedBytes: number) =>
  receiversOnFreePorts.map((receiver) =>
    receiver.type === 'gelf_http'
      ? receiver
      : { ...receiver, max_inflated_bytes: maxInflatedBytes, timestamp: 'received' },
  );

t.test('input that could not be decoded is seen, and stored once its cause is gone', async (t) => {
  const folder = testFolder(t);
  const program = await startProgram(t, { folder, settings: { receivers: receivers(2_000) } });
  await sendFrames(program.port('gelf-tcp'), [
    message('good'),
    '{"broken',
    Buffer.from([1, 2, 255, 27, 91, 51, 49, 109]),
    '{"host":"h","short_message":"x"\u001b[31m\u202e',
  ]);
  await sendDatagrams(program.port('gelf-udp'), [large('first'), large('second')]);
  const deadLetters = await untilDeadLetters(program, 5);
  t.same(deadLetters.map(({ code }) => code).sort(), [
    'DECODE_JSON_INVALID',
    'DECODE_JSON_INVALID',
    'DECODE_JSON_INVALID',
    'INFLATED_TOO_LARGE',
    'INFLATED_TOO_LARGE',
  ]);
  const byTcp = deadLetters.find(({ receiver }) => receiver === 'gelf-tcp');
  t.match(byTcp, {
    _id: /^[0-9a-f]{20}-ffff-[0-9a-f]{10}$/,
    _index: 'sluice_dead_letters_0',
    receiver: 'gelf-tcp',
    peer: /^127\.0\.0\.1:\d+$/,
    state: 'open',
    replays: 0,
    raw_sha256: /^[0-9a-f]{64}$/,
  });
  t.equal((await search(program, 'code:*')).total, 0, 'the default search leaves them out');

  await t.test('shown, with every control character escaped', async (t) => {
    const listed = await sluice(program, ['dead-letters', 'list', '--code', 'DECODE_JSON_INVALID']);
    t.equal(listed.code, 0);
    t.equal(listed.out.trim().split('\n').length, 3);
    t.match(
      listed.out,
      /^2\d{3}-.*Z {2}[0-9a-f]{20}-ffff-[0-9a-f]{10} {2}DECODE_JSON_INVALID {2}gelf-tcp {2}127\.0\.0\.1:\d+ {2}- {2}.* {2}replays=0$/m,
    );
    const escaping = deadLetters.find(({ raw }) => typeof raw === 'string' && raw.includes('\u001b'));
    for (const json of [false, true]) {
      const shown = await deadLettersVerb(program, 'show', [escaping?._id ?? ''], { json });
      t.notOk(/[\p{Cc}\p{Cf}]/u.test(shown.out.replaceAll('\n', '')));
      t.match(shown.out, json ? '\\u001b[31m\\u202e' : '\\u{1b}[31m\\u{202e}');
    }
    const bytes = deadLetters.find(({ raw_base64: base64 }) => typeof base64 === 'string' && base64.startsWith('AQL'));
    t.match((await deadLettersVerb(program, 'show', [bytes?._id ?? ''])).out, 'raw (base64):\nAQL/G1szMW0=');
    t.match(await sluice(program, ['dead-letters', 'show', 'nobody']), {
      code: 2,
      err: /no dead letter with this id.*Got nobody/,
    });
  });
  await t.test('filters', async (t) => {
    const cases: readonly (readonly [DeadLetterFlags, number])[] = [
      [{ code: 'INFLATED_TOO_LARGE' }, 2],
      [{ peer: '127.0.0.1' }, 5],
      [{ peer: '127.0.0.2' }, 0],
      [{ receiver: 'gelf-udp' }, 2],
      [{ peer: String(byTcp?.['peer']) }, 3],
      [{ reason: 'larger than allowed' }, 2],
      [{ query: 'code:INFLATED* OR raw:*broken*' }, 3],
      [{ last: '1h' }, 5],
      [{ to: '2020-01-01' }, 0],
      [{ indexSet: 'sluice_default' }, 0],
      [{ limit: 2 }, 2],
      [{ state: 'replayed' }, 0],
      [{ state: 'all', receiver: 'gelf-tcp', query: 'raw:*broken*' }, 1],
    ];
    for (const [flags, count] of cases)
      t.equal((await listDeadLetters(program, flags)).length, count, JSON.stringify(flags));
    await t.rejects(deadLettersVerb(program, 'list', [], { query: 'code:(' }), { code: /^SEARCH_/ });
    await t.rejects(deadLettersVerb(program, 'list', [], { last: 'yesterday' }), { code: 'SEARCH_TIME_RANGE' });
  });
  await t.test('nothing is replayed or dropped without saying which', async (t) => {
    t.match(await sluice(program, ['dead-letters', 'replay']), { code: 2, err: /--all/ });
    await t.rejects(deadLettersVerb(program, 'drop', []), { code: 'DEAD_LETTER_SELECTION_MISSING' });
  });
  await t.test('a dry run says what would happen, and changes nothing', async (t) => {
    const dry = await sluice(program, ['dead-letters', 'replay', '--all', '--dry-run', '--quiet']);
    t.match(dry, {
      code: 0,
      out: /^5 dead letters: .*3 would fail again \(DECODE_JSON_INVALID\).*Nothing was changed\.\n$/,
    });
    t.same(await listDeadLetters(program), deadLetters);
  });
  await t.test('what fails again comes back with a count', async (t) => {
    t.match(await sluice(program, ['dead-letters', 'replay', '--all', '--quiet']), {
      code: 1,
      out: '5 dead letters: 5 failed again.\n',
    });
    t.same(
      (await listDeadLetters(program)).map(({ replays, state }) => [replays, state]),
      deadLetters.map(() => [1, 'open']),
    );
  });
  await t.test('a dropped one is kept as such, and passed over', async (t) => {
    const id = deadLetters.find(({ raw }) => raw === '{"broken')?._id ?? '';
    t.match(await deadLettersVerb(program, 'drop', [id], { dryRun: true }), {
      code: 0,
      out: /^1 dead letter of 1 would be dropped/,
    });
    t.match(await deadLettersVerb(program, 'drop', [id]), { code: 0, out: '1 dead letter: 1 dropped.' });
    t.match(await deadLettersVerb(program, 'drop', [id]), { code: 0, out: /1 not open/ });
    t.match(await listDeadLetters(program, { state: 'dropped' }), [
      { _id: id, state: 'dropped', dropped_by: /./, dropped_at: /Z$/ },
    ]);
    t.match(await deadLettersVerb(program, 'replay', [id]), { code: 0, out: /1 replayed or dropped before/ });
  });
  t.equal(await program.end(), 0);

  const again = await startProgram(t, { folder, settings: { receivers: receivers(100_000) } });
  const cured = await sluice(again, ['dead-letters', 'replay', '--code', 'INFLATED_TOO_LARGE', '--quiet']);
  t.match(cured, { code: 0, out: '2 dead letters: 2 replayed.\n' });
  const found = await search(again, 'source:letters');
  t.same(found.hits.map(({ document }) => String(document['message']).split(' ')[0]).sort(), [
    'first',
    'good',
    'second',
  ]);
  const first = found.hits.find(({ document }) => String(document['message']).startsWith('first'));
  const deadLetter = deadLetters.find(({ _id }) => _id === first?._id);
  t.ok(deadLetter, 'stored under its own id');
  t.match(
    first?.document,
    {
      receiver: 'gelf-udp',
      peer_address: '127.0.0.1',
      receive_time: deadLetter?.['timestamp'],
      timestamp: deadLetter?.['timestamp'],
      rule_set_version: /./,
    },
    'as its receiver would have',
  );
  t.match(await deadLettersVerb(again, 'replay', [], { all: true, json: true }), {
    code: 1,
    out: /"replayed":0,"failed":2/,
  });
  t.match(await deadLettersVerb(again, 'replay', [deadLetter?._id ?? '']), {
    code: 0,
    out: /replayed or dropped before/,
  });
  t.equal((await search(again, 'source:letters')).total, 3, 'and once');
  await workedOff(again);
  const metrics = await (await fetch(`http://127.0.0.1:${(await again.status()).admin_port}/metrics`)).text();
  t.match(metrics, /sluice_dead_letter_replays_total\{outcome="replayed"\} 2/);
  t.match(metrics, /sluice_dead_letter_replays_total\{outcome="failed"\} 2/);
});
