import t from 'tap';
import fc from 'fast-check';
import { interpret } from '../../../rules/engine/interpret.js';
import { programOf } from '../../../rules/engine/program.js';
import type { LogDocument } from '../../../schemas/messages.js';
import { compiled, context, run } from '../support.js';

const field = fc.constantFrom('a', 'b', 'pod', 'pod_name', 'container', 'message', 'n', 'constructor');
const word = fc.constantFrom('x', 'y', 'abc', 'abcd', 'bcd', 'payment', 'rejected', ' x ', 'ß', '5', '12');
const text = fc.oneof(
  word,
  fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
  fc.string({ maxLength: 12 }),
);
const value = fc.oneof(
  text,
  fc.integer({ min: -3, max: 12 }),
  fc.boolean(),
  fc.double({ min: -5, max: 15, noNaN: true }),
);
const nonEmpty = text.filter((candidate) => candidate !== '');

const leaf = fc.oneof(
  fc.record({ field, equals: fc.oneof(nonEmpty, fc.integer({ min: -3, max: 12 }), fc.boolean()) }),
  fc.record({ field, one_of: fc.array(nonEmpty, { minLength: 1, maxLength: 4 }) }),
  fc.record({ field, contains: nonEmpty }, { requiredKeys: ['field', 'contains'] }),
  fc.record({ field, contains: nonEmpty, ignore_case: fc.boolean() }),
  fc.record({ field, starts_with: nonEmpty }),
  fc.record({ field, ends_with: nonEmpty }),
  fc.record({
    field,
    regex: fc.constantFrom('abc.*payment', '(?:rejected|payment) x', '^x', 'b?c', 'y+', '(?i)ABC', 'payment|12'),
  }),
  fc.record({ field, exists: fc.boolean() }),
  fc.record({ field, greater: fc.integer({ min: -3, max: 10 }) }),
  fc.record({ field, less: fc.integer({ min: -3, max: 10 }) }),
  fc.constant({ always: true }),
  fc.constant({ input: 'gelf-tcp' }),
);
const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { arbitrary: leaf, weight: 4 },
    { arbitrary: fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }), weight: 2 },
    { arbitrary: fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }), weight: 2 },
    { arbitrary: fc.record({ not: tie('condition') }), weight: 1 },
  ),
}));
const writable = fc.constantFrom('a', 'b', 'pod', 'pod_name', 'container', 'message', 'n');
const action = fc.oneof(
  fc.record({ set: fc.record({ field: writable, value }) }),
  fc.record({ copy: fc.record({ from: field, to: writable }) }),
  fc.record({ rename: fc.record({ from: writable, to: writable }) }),
  fc.record({ remove: fc.record({ fields: fc.array(writable, { minLength: 1, maxLength: 2 }) }) }),
  fc.record({ convert: fc.record({ field: writable, to: fc.constantFrom('number', 'string', 'boolean') }) }),
  fc.record({ parse_key_value: fc.record({ field: writable, overwrite: fc.boolean() }) }),
  fc.record({ route: fc.record({ stream: fc.constantFrom('s0', 's1', 's2', 'all-messages') }) }),
  fc.constant({ leave_default_stream: true }),
  fc.record({ replace: fc.record({ field: writable, text: fc.constantFrom('x', 'b', ' '), by: word, to: writable }) }),
  fc.record({
    replace: fc.record({
      field: writable,
      pattern: fc.constantFrom('[a-c]+', '(x|y)', '^'),
      by: fc.constantFrom('', '$0', 'z'),
      all: fc.boolean(),
    }),
  }),
);
const rule = fc.record({
  when: condition,
  then: fc.array(fc.oneof({ arbitrary: action, weight: 20 }, { arbitrary: fc.constant({ drop: true }), weight: 1 }), {
    minLength: 1,
    maxLength: 3,
  }),
});
const stream = fc.record({
  when: condition,
  remove_matches_from_default_stream: fc.boolean(),
  only_within_default_stream: fc.boolean(),
  enabled: fc.boolean(),
});
const document = fc.dictionary(
  fc.constantFrom('a', 'b', 'pod', 'pod_name', 'container', 'message', 'n'),
  value,
) as fc.Arbitrary<LogDocument>;

t.test('the indexed engine does what plain evaluation in order does', async () => {
  const property = fc.property(
    fc.array(rule, { maxLength: 45 }),
    fc.array(stream, { minLength: 3, maxLength: 3 }),
    fc.array(document, { minLength: 1, maxLength: 6 }),
    (rules, streams, documents) => {
      const ruleSet = compiled({
        rules: rules.map((one, place) => ({ id: `r${place}`, ...one })),
        streams: streams.map((one, place) => ({ id: `s${place}`, ...one })),
      });
      const program = programOf(ruleSet);
      for (const one of documents) {
        const plain = { ...one };
        const { routing } = interpret(program, plain, context);
        const result = run(ruleSet, one);
        if (JSON.stringify([result.routing, result.document]) !== JSON.stringify([routing, plain]))
          throw new Error(
            `${JSON.stringify([result.routing, result.document])} is not ${JSON.stringify([routing, plain])}`,
          );
      }
    },
  );
  fc.assert(property, { numRuns: 400, seed: 20260102 });
});

t.test('each rule sees what the ones before changed', async (t) => {
  const ruleSet = compiled({
    rules: [
      { id: 'third-first', when: { field: 'b', equals: 2 }, then: [{ set: { field: 'c', value: 3 } }] },
      { id: 'first', when: { field: 'a', equals: 1 }, then: [{ set: { field: 'b', value: 2 } }] },
      { id: 'second', when: { field: 'b', equals: 2 }, then: [{ set: { field: 'message', value: 'a needle here' } }] },
      { id: 'literal', when: { field: 'message', contains: 'needle' }, then: [{ set: { field: 'n', value: '7' } }] },
      { id: 'number', when: { field: 'n', greater: 6 }, then: [{ rename: { from: 'n', to: 'm' } }] },
      { id: 'gone', when: { not: { field: 'n', exists: true } }, then: [{ set: { field: 'done', value: true } }] },
    ],
  });
  t.same(run(ruleSet, { a: 1 }).document, { a: 1, b: 2, message: 'a needle here', m: '7', done: true });
});

t.test('removing a field lets its alias be seen', async (t) => {
  const ruleSet = compiled({
    rules: [
      { id: 'remove', when: { field: 'pod', equals: 'x' }, then: [{ remove: { fields: ['pod'] } }] },
      { id: 'alias', when: { field: 'pod', equals: 'y' }, then: [{ set: { field: 'seen', value: true } }] },
    ],
  });
  t.equal(run(ruleSet, { pod: 'x', pod_name: 'y' }).document['seen'], true);
});

t.test('a rule that throws costs that rule for that message and is counted', async (t) => {
  const ruleSet = compiled({
    rules: [
      { id: 'throws', when: { field: 'trap', exists: true }, then: [{ set: { field: 'a', value: 1 } }] },
      { id: 'works', when: { always: true }, then: [{ set: { field: 'b', value: 2 } }] },
    ],
    streams: [{ id: 's', when: { field: 'b', equals: 2 } }],
  });
  const document = Object.defineProperty({ x: 1 }, 'trap', {
    enumerable: true,
    get: () => {
      throw new Error('hostile');
    },
  }) as unknown as LogDocument;
  const routing = ruleSet.apply(document, context);
  t.same(routing.streams, ['all-messages', 's']);
  t.equal(document['b'], 2);
  const counts = ruleSet.takeCounts();
  t.same([...counts.failed], [['throws', 1]]);
  t.same([...counts.matched], [['works', 1]]);
  t.equal(ruleSet.takeCounts().matched.size, 0, 'taken');
});

t.test('messages with the same outcome share one routing', async (t) => {
  const streams = Array.from({ length: 70 }, (_, place) => ({ id: `s${place}`, when: { field: 'n', greater: place } }));
  const ruleSet = compiled({ streams });
  t.equal(run(ruleSet, { n: 5 }).routing, run(ruleSet, { n: 5 }).routing);
  t.equal(run(ruleSet, { n: 69.5 }).routing.streams.length, 71);
  t.same(run(ruleSet, { n: 2 }).routing.streams, ['all-messages', 's0', 's1']);
});

t.test('many literals are all found, short ones and overlapping ones', async () => {
  const literals = [
    'a',
    'ab',
    'abc',
    'abcabc',
    'cab',
    'payment failed',
    'payment done',
    'ment fa',
    'zzz',
    'éàü',
    'xyzxyzxyz',
    '日本語',
  ];
  const ruleSet = compiled({
    streams: literals.map((literal, place) => ({ id: `s${place}`, when: { field: 'message', contains: literal } })),
  });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...literals, 'b', 'pay', 'x'), fc.string({ maxLength: 3 })), { maxLength: 8 }),
      (parts) => {
        const message = parts.join('');
        const found = run(ruleSet, { message })
          .routing.streams.filter((id) => id !== 'all-messages')
          .sort();
        const expected = literals.flatMap((literal, place) => (message.includes(literal) ? [`s${place}`] : [])).sort();
        return JSON.stringify(found) === JSON.stringify(expected);
      },
    ),
    { numRuns: 2_000, seed: 7 },
  );
});
