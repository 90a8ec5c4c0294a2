/** What rules changed, and nothing else, changes in the message that leaves. */
import fc from 'fast-check';
import t from 'tap';
import { modifiedGelf } from '../../../pipeline/forwarding/modified.js';
import { createRepeats } from '../../../pipeline/forwarding/repeats.js';
import { createDecoder } from '../../../gelf/decoder.js';
import type { LogDocument } from '../../../schemas/messages.js';
import { compiled } from '../../rules/support.js';

const decoder = createDecoder();
const decodeContext = { receiver: 'r', peer: '127.0.0.1:1', receivedAt: 0, timestamp: 'sender' } as const;

function decoded(value: Buffer): LogDocument {
  const parsed = decoder.parse(value);
  if ('error' in parsed) throw parsed.error;
  return decoder.toDocument(parsed, decodeContext);
}

function changedBy(then: readonly unknown[], text: string): { document: LogDocument; value: string } {
  const parsed = decoder.parse(Buffer.from(text));
  if ('error' in parsed) throw parsed.error;
  const document = decoder.toDocument(parsed, decodeContext);
  const changes = { added: [], changed: [] };
  compiled({ rules: [{ id: 'r', when: { always: true }, then }] }).apply(document, {
    messageId: '',
    receiver: 'r',
    changes,
  });
  return { document, value: (modifiedGelf(parsed, document, changes) ?? Buffer.from(text)).toString() };
}

t.test('golden messages', async (t) => {
  const base =
    '{"version":"1.1","host":"h","short_message":"m","level":3,"_a":"x" , "_big":12345678901234567890,"_nested":{"b": [1]}}';
  const cases: readonly [name: string, then: readonly unknown[], wanted: string][] = [
    ['nothing that counts', [{ set: { field: 'a', value: 'x' } }], base],
    [
      'added: at the end, the rest untouched',
      [{ set: { field: 'team', value: 'p"q' } }],
      `${base.slice(0, -1)},"_team":"p\\"q"}`,
    ],
    [
      'changed in its place',
      [{ set: { field: 'a', value: 7 } }],
      '{"version":"1.1","host":"h","short_message":"m","level":3,"_a":7,"_big":12345678901234567890,"_nested":{"b": [1]}}',
    ],
    [
      'removed',
      [{ remove: { fields: ['a', 'nested'] } }],
      '{"version":"1.1","host":"h","short_message":"m","level":3,"_big":12345678901234567890}',
    ],
    [
      'standard fields under their own names',
      [
        { set: { field: 'message', value: 'n' } },
        { set: { field: 'source', value: 's' } },
        { set: { field: 'level', value: 1 } },
      ],
      '{"version":"1.1","host":"s","short_message":"n","level":1,"_a":"x","_big":12345678901234567890,"_nested":{"b": [1]}}',
    ],
    ['an id that GELF does not allow', [{ set: { field: 'id', value: 'i' } }], `${base.slice(0, -1)},"__id":"i"}`],
    ['added and removed again', [{ set: { field: 'x', value: 1 } }, { remove: { fields: ['x'] } }], base],
  ];
  for (const [name, then, wanted] of cases)
    t.equal(changedBy(then, base).value.replaceAll(' , ', ','), wanted.replaceAll(' , ', ','), name);
  t.equal(
    changedBy([{ set: { field: 'a', value: 1 } }], '{"host":"h","short_message":"m","_a":null,}').value,
    '{"host":"h","short_message":"m","_a":1}',
    'a null of the sender gives way',
  );
  t.match(
    changedBy([{ remove: { fields: ['message'] } }], '{"host":"h","short_message":"m"}').value,
    '"short_message":"-"',
    'what GELF needs is there',
  );
});

t.test('decoded again, the message that leaves is the document that the rules made', async () => {
  const names = fc.constantFrom('a', 'b', 'level', 'facility', 'message', 'full_message', 'line');
  const value = fc.oneof(fc.constantFrom('x', 'y"z', 'two words'), fc.integer({ min: 0, max: 7 }));
  const action = fc.oneof(
    fc.record({ set: fc.record({ field: names, value }) }),
    fc.record({
      remove: fc.record({
        fields: fc.uniqueArray(fc.constantFrom('a', 'b', 'level', 'full_message'), { minLength: 1, maxLength: 2 }),
      }),
    }),
    fc.record({ rename: fc.record({ from: fc.constantFrom('a', 'b'), to: fc.constantFrom('c', 'd') }) }),
  );
  const message = fc.record(
    {
      _a: value,
      _b: fc.oneof(value, fc.constant(null), fc.constant({ q: 1 })),
      level: fc.integer({ min: 0, max: 7 }),
      full_message: fc.string({ minLength: 1 }),
      _c: value,
    },
    { requiredKeys: [] },
  );
  const comparable = (document: LogDocument): string =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(document)
          .filter(
            ([name, one]) =>
              one !== undefined &&
              !['adjustments', 'streams', 'rule_set_version'].includes(name) &&
              !/_text$/.test(name),
          )
          .map(([name, one]) => [name, ['message', 'facility', 'full_message'].includes(name) ? String(one) : one])
          .sort(([left], [right]) => ((left as string) < (right as string) ? -1 : 1)),
      ),
    );
  const skipped = (document: LogDocument): boolean =>
    typeof document['level'] === 'string' || typeof document['line'] === 'string';
  fc.assert(
    fc.property(fc.array(action, { minLength: 1, maxLength: 4 }), message, (then, fields) => {
      const { document, value: text } = changedBy(
        then,
        JSON.stringify({ version: '1.1', host: 'h', short_message: 'm', ...fields }),
      );
      if (skipped(document)) return;
      const again = comparable(decoded(Buffer.from(text)));
      if (again !== comparable(document)) throw new Error(`${text}\n${again}\n${comparable(document)}`);
    }),
    { numRuns: 300 },
  );
});

t.test('repeats are told exactly within a window, and nothing new is taken for old', async (t) => {
  const id = (lane: number, sequence: number): string =>
    `0190000000000abcdef0-${String(lane).padStart(4, '0')}-${sequence.toString(16).padStart(10, '0')}`;
  const near = fc.integer({ min: 0, max: 200_000 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), near), { maxLength: 300 }), (steps) => {
      const repeats = createRepeats();
      const seen = new Set<string>();
      for (const [lane, sequence] of steps.flatMap(([one, first]) =>
        [first, first + 1, first + 3].map((each) => [one, each] as const),
      )) {
        const key = id(lane, sequence);
        if (repeats.seen(key) && !seen.has(key)) throw new Error(`${key} is new`);
        seen.add(key);
      }
    }),
    { numRuns: 200 },
  );
  const repeats = createRepeats();
  for (let sequence = 0; sequence < 1_000; sequence += 3) repeats.seen(id(0, sequence));
  const told = Array.from({ length: 1_000 }, (_, sequence) => repeats.seen(id(0, sequence)));
  t.ok(told.every((repeated, sequence) => repeated === (sequence % 3 === 0)));
});
