/** Taking a message out of All messages by an action, and replacing parts of a text. */
import fc from 'fast-check';
import t from 'tap';
import { compiled, problemsOf, run } from './support.js';

const streams = [
  { id: 'plain' },
  { id: 'within', only_within_default_stream: true },
  { id: 'off', enabled: false },
  ...Array.from({ length: 40 }, (_, place) => ({ id: `s${place}` })),
];
const routed = (...then: readonly object[]): readonly string[] =>
  run(compiled({ streams, rules: [{ id: 'r', when: { always: true }, then }] }), { message: 'm' }).routing.streams;
const leave = { leave_default_stream: true };
const route = (stream: string) => ({ route: { stream } });

t.test('a message leaves All messages for a stream that keeps it', async (t) => {
  t.strictSame(routed(route('plain')), ['all-messages', 'plain']);
  t.strictSame(routed(route('plain'), leave), ['plain']);
  t.strictSame(routed(leave, route('s39')), ['s39'], 'with more streams than one word has bits');
  t.strictSame(routed(leave), ['all-messages'], 'what no other stream keeps stays');
  t.strictSame(routed(route('off'), leave), ['all-messages'], 'nor one that is paused');
  t.strictSame(routed(route('within'), leave), ['all-messages', 'within'], 'nor one that lives within All messages');
  t.strictSame(routed(route('within'), route('plain'), leave), ['plain']);
  t.strictSame(routed(route('plain'), leave, route('all-messages')), ['all-messages', 'plain']);
});

const replaced = (options: object, text: string): unknown =>
  run(compiled({ rules: [{ id: 'r', when: { always: true }, then: [{ replace: { field: 'a', ...options } }] }] }), {
    a: text,
  }).document['a'];

t.test('parts of a text are replaced', async (t) => {
  t.equal(replaced({ text: '/', by: '_' }, 'a/b/c'), 'a_b_c');
  t.equal(replaced({ text: '/', by: '_', all: false }, 'a/b/c'), 'a_b/c');
  t.equal(replaced({ pattern: '(\\w)=(\\d)', by: '$2=$1, $0' }, 'x=1'), '1=x, x=1');
  t.equal(replaced({ pattern: '^', by: '-' }, 'axb'), '-axb');
  t.equal(
    replaced({ text: 'a', by: 'b'.repeat(1_000) }, 'a'.repeat(2_000)),
    'a'.repeat(2_000),
    'a result that would be too long is not written',
  );
  t.equal(replaced({ pattern: 'a', by: 'b'.repeat(1_000) }, 'a'.repeat(2_000)), 'a'.repeat(2_000));
  fc.assert(
    fc.property(
      fc.string({ maxLength: 30 }),
      fc.constantFrom('a', 'bb', '.', '$'),
      fc.string({ maxLength: 5 }),
      (text, wanted, by) => replaced({ text: wanted, by }, text) === text.split(wanted).join(by),
    ),
    { seed: 3, numRuns: 200 },
  );
});

t.test('what cannot be meant is refused', async (t) => {
  const refused = (options: object, message: RegExp): void => {
    t.match(
      problemsOf(JSON.stringify({ rules: [{ id: 'r', when: { always: true }, then: [{ replace: options }] }] }))[0]
        ?.message,
      message,
    );
  };
  refused({ field: 'a', by: 'x' }, /`text` or `pattern`/);
  refused({ field: 'a', text: 'b', pattern: 'c', by: 'x' }, /`text` or `pattern`/);
  refused({ field: 'a', pattern: '(', by: 'x' }, /cannot be compiled/);
  refused({ field: 'a', pattern: 'b', by: '$1' }, /no such group/);
  refused({ field: 'receiver', text: 'b', by: 'x' }, /cannot write this field/);
});
