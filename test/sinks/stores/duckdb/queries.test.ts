/** Random documents and random query trees: the embedded store finds what the reference evaluation finds. */
import fc from 'fast-check';
import t from 'tap';
import { Registry } from '../../../../core/metrics.js';
import type { QueryNode, RangeEnd } from '../../../../schemas/query.js';
import { compileQuery } from '../../../../search/reference/evaluate.js';
import { batchOf, idOf, type StoredDocument } from '../contract/contract.js';
import { createIndex, openStore } from './support/open-store.js';
import { wordsKnown } from './support/words.js';

t.setTimeout(90_000);

const seed = Number(process.env['SLUICE_TEST_SEED'] ?? 20261121);
const documentCount = 300;
const queryCount = 250;

const words = [
  'alpha',
  'Beta',
  'GAMMA',
  'delta-7',
  'ö',
  'Straße',
  'x',
  '42',
  '4.50',
  'true',
  'false',
  '',
  ' ',
  'a.b',
  'ΟΔΟΣ',
  'İ',
  '你好',
  '😀z',
  'a\nb',
  'c\\d',
  '"',
  'a","b',
  '*',
  '?',
  '[1]',
  '%',
  '_',
];
const word = fc.constantFrom(...words);
const text = fc.oneof(
  { weight: 3, arbitrary: word },
  { weight: 3, arbitrary: fc.array(word, { minLength: 1, maxLength: 4 }).map((list) => list.join(' ')) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: 'grapheme' }) },
);
const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 42, 4.5, 1e21, 1e-7, 8080, 9007199254740991),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  fc.integer({ min: -3, max: 3 }),
);
const time = fc.oneof(
  fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString()),
  fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z', 'yesterday', '2999-12-31T23:59:59.999Z'),
);
const scalar = fc.oneof(text, number, fc.boolean());

const freeNames = ['user', 'level', 'a.b', 'odd "name"', 'with/slash~', '__proto__', 'Case', 'case', 'ключ'];
const name = fc.constantFrom(...freeNames);
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);

/** `texts`: what has an index of words is a text in every document. */
const documentArbitrary = (texts: boolean): fc.Arbitrary<StoredDocument> =>
  fc
    .tuple(
      fc.record(
        {
          message: texts ? text : fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.integer() }),
          full_message: text,
          source: texts ? text : fc.oneof(text, fc.boolean()),
          timestamp: time,
          receive_time: time,
          streams: fc.array(text, { maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
      fc.array(fc.tuple(name, value), { maxLength: 5 }),
    )
    .map(([standard, free]): StoredDocument => ({ ...standard, ...Object.fromEntries(free) }));

const anyField = fc.oneof(
  name,
  fc.constantFrom('message', 'full_message', 'source', 'timestamp', 'streams', 'missing'),
);
const someField = fc.oneof({ weight: 3, arbitrary: anyField }, { weight: 1, arbitrary: fc.constant(undefined) });
const termText = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: number.map(String) },
  { weight: 1, arbitrary: time },
);
const pattern = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('*', '?') },
      {
        weight: 3,
        arbitrary: fc.constantFrom('al', 'pha', 'Beta', 'b', '4', '.', '-', ' ', 'ö', 'tr', 'ue', '[', '\\', '你'),
      },
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(''));
const expression = fc.constantFrom(
  '.*',
  'a.*',
  '[a-z]+',
  'al(pha|x)',
  '(?i)BETA',
  '\\d+',
  '^alpha$',
  'x?',
  '.',
  'del.*7',
  '\\p{L}+',
  '',
  '[a-z]{5}',
  '(?:x|al.*a)?',
  'b...',
  '\\d+|be(ta)+',
  '[A-z]+',
  '.',
);
const end = (ends: fc.Arbitrary<string | number>): fc.Arbitrary<RangeEnd | undefined> =>
  fc.option(fc.record({ value: ends, inclusive: fc.boolean() }), { nil: undefined });
const range = fc.oneof(
  fc.record({ kind: fc.constant('range' as const), field: anyField, from: end(number), to: end(number) }),
  fc.record({ kind: fc.constant('range' as const), field: anyField, from: end(text), to: end(text) }),
  fc.record({
    kind: fc.constant('range' as const),
    field: fc.constant('timestamp'),
    from: end(time),
    to: end(fc.oneof(time, fc.integer({ min: 0, max: 4e12 }))),
  }),
);
const leaf: fc.Arbitrary<QueryNode> = fc.oneof(
  fc.record({ kind: fc.constantFrom('term' as const, 'phrase' as const), field: someField, text: termText }),
  fc.record({ kind: fc.constant('wildcard' as const), field: someField, pattern }),
  fc.record({ kind: fc.constant('regex' as const), field: someField, pattern: expression }),
  fc.record({ kind: fc.constant('exists' as const), field: anyField }),
  range,
  fc.constantFrom<QueryNode>({ kind: 'all' }, { kind: 'none' }),
);
const { tree } = fc.letrec<{ tree: QueryNode; inner: QueryNode }>((tie) => ({
  tree: fc.oneof({ depthSize: 'small' }, leaf, tie('inner')),
  inner: fc.oneof(
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      children: fc.array(tie('tree'), { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), child: tie('tree') }),
  ),
}));

for (const { name, texts, words } of [
  { name: 'looking through the texts', texts: false, words: { segmentRows: 0 } },
  { name: 'with an index of words', texts: true, words: { segmentRows: 64, idleMs: 0, everyMs: 10 } },
])
  t.test(`random queries on random documents answer as the reference evaluation, ${name}`, async (t) => {
    const registry = new Registry();
    const store = await openStore(t, { memoryBytes: 512 * 2 ** 20, registry, words });
    const index = await createIndex(store);
    const documents = fc
      .sample(documentArbitrary(texts), { seed, numRuns: documentCount })
      .map((document): StoredDocument => JSON.parse(JSON.stringify(document)));
    for (let first = 0; first < documents.length; first += 60)
      await store.documents.write(batchOf(index, documents.slice(first, first + 60), first));
    if (words.segmentRows > 0) await wordsKnown(registry, words.segmentRows / 8);
    const byId = new Map(documents.map((document, at) => [`${idOf(at)}-0`, document]));
    await t.test('every document comes back as it was', async (t) => {
      const { hits } = await store.queries.search({ indices: [index], query: { kind: 'all' }, limit: documentCount });
      t.equal(hits.length, documentCount);
      for (const hit of hits) t.same(hit.document, byId.get(hit._id));
    });
    await fc.assert(
      fc.asyncProperty(tree, async (query) => {
        const matches = compileQuery(query);
        const expected = [...byId]
          .filter(([, document]) => matches(document))
          .map(([id]) => id)
          .sort();
        const { hits, total } = await store.queries.search({ indices: [index], query, limit: documentCount });
        const found = hits.map((hit) => hit._id).sort();
        const differing = [
          ...found.filter((id) => !expected.includes(id)),
          ...expected.filter((id) => !found.includes(id)),
        ];
        if (differing.length > 0 || total !== expected.length) {
          throw new Error(
            `store ${total}, reference ${expected.length}; first difference: ${JSON.stringify(byId.get(differing[0] ?? ''))}`,
          );
        }
      }),
      { seed, numRuns: queryCount, verbose: 0 },
    );
    t.pass(`seed ${seed}`);
  });
