import t from 'tap';
import { dropText, deadLetterLine, deadLetterText, planText, replayText } from '../../../cli/dead-letters/output.js';
import { safeJson } from '../../../cli/search/output.js';

/** C0, DEL, C1, bidirectional overrides and isolates, a line separator, half of a character. */
const hostile = '\u0000\u0007\u001b[31m\u007f\u009b31m\u202e\u2066\u2028\ud800';
const acting = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const hit = {
  _id: `id${hostile}`,
  _index: 'sluice_dead_letters_0',
  document: {
    timestamp: '2026-01-02T03:04:05.678Z',
    code: 'DECODE_JSON_INVALID',
    receiver: hostile,
    peer: hostile,
    message: `reason ${hostile}`,
    raw: hostile,
    raw_length: 3,
    replays: 2,
    state: 'targeted',
  },
};

t.test('nothing of a sender reaches the terminal as a character that it would act on', async (t) => {
  t.notOk(acting.test(deadLetterLine(hit, false)));
  t.notOk(acting.test(deadLetterText(hit).replaceAll('\n', '')));
  t.notOk(acting.test(safeJson(hit)));
  t.same(JSON.parse(safeJson(hit, 2)), hit, 'and JSON reads as the same');
});

t.test('a line has time, id, code, receiver, peer, index set, reason and failed replays', async (t) => {
  const document = {
    timestamp: '2026-01-02T03:04:05.678Z',
    code: 'A',
    receiver: 'tcp',
    peer: '10.0.0.1:2',
    index_set: 'sluice_default',
    message: 'why',
    replays: 1,
    state: 'open',
  };
  t.equal(
    deadLetterLine({ _id: 'x@sluice_default', _index: 'i', document }, false),
    '2026-01-02T03:04:05.678Z  x@sluice_default  A  tcp  10.0.0.1:2  sluice_default  why  replays=1',
  );
  t.equal(deadLetterLine({ _id: 'x', _index: 'i', document: { code: 'A' } }, false), '-  x  A  -  -  -  -  replays=0');
});

t.test('reports are a sentence', async (t) => {
  const none = { replayed: 0, failed: 0, left: 0, elsewhere: 0, skipped: 0, gone: 0 };
  t.equal(
    replayText({ ...none, replayed: 1200, failed: 1, done: 1201, total: 1201, cancelled: false }),
    '1,201 dead letters: 1,200 replayed, 1 failed again.',
  );
  t.equal(
    replayText({ ...none, replayed: 200, done: 200, total: 600, cancelled: true }),
    'Interrupted after 200 of 600 dead letters: 200 replayed. The rest is untouched.',
  );
  t.equal(replayText({ ...none, done: 0, total: 0, cancelled: false }), '0 dead letters: nothing to do.');
  t.equal(dropText({ dropped: 1, skipped: 0, done: 1, total: 1, cancelled: false }), '1 dead letter: 1 dropped.');
  t.equal(
    planText({
      index_sets: { b: 1, a: 2 },
      fail: { X_Y: 1 },
      dropped_by_rules: 1,
      skipped: 1,
      done: 6,
      total: 6,
      cancelled: false,
    }),
    '6 dead letters: 2 to a, 1 to b, 1 would fail again (X_Y), 1 dropped by a rule, 1 replayed or dropped before. Nothing was changed.',
  );
});
