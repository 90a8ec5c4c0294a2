import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { createOpenSearchClient } from '../../../../core/opensearch-client.js';
import { wordsOf } from '../../../../schemas/words.js';
import type { QueryNode } from '../../../../schemas/query.js';
import { createMappingCoercion } from '../../../../sinks/index-sets/mapping-coercion.js';
import { indexBody } from '../../../../sinks/stores/opensearch/mapping.js';
import { luceneExpression } from '../../../../sinks/stores/opensearch/queries/regex.js';
import { openSearchNode, skipWithoutOpenSearch } from '../../../engines.js';
import { batchOf, idOf, indexOptions, newPrefix } from '../contract/contract.js';
import { openStore } from './open-store.js';

t.test('expressions in the syntax of Lucene', async (suite) => {
  const cases: readonly (readonly [string, string])[] = [
    ['a.c', 'a[^\n]c'],
    ['(?s)a.c', 'a(.|\n)c'],
    ['^abc$', 'abc'],
    ['a+?b*?c??', 'a+b*c?'],
    ['(?:a|b){2,3}', '(a|b){2,3}'],
    ['(?P<name>x)', '(x)'],
    ['\\d+\\.\\d', '[0-9]+\\.[0-9]'],
    ['[\\d.-]', '[0-9\\.\\-]'],
    ['[^a-z]', '[^a-z]'],
    ['[]a]', '[\\]a]'],
    ['a"b<c>d@e&f~g#h', 'a\\"b\\<c\\>d\\@e\\&f\\~g\\#h'],
    ['\\Qa.b\\E', 'a\\.b'],
    ['\\x{1F600}', '😀'],
    ['\\W', '[^0-9A-Za-z_]'],
    ['(?s:.*)x', '(.|\n)*x'],
  ];
  for (const [pattern, expected] of cases) suite.equal(luceneExpression(pattern).text, expected, pattern);
  suite.same(luceneExpression('(?i)ab'), { text: 'ab', anyCase: true });
  for (const pattern of ['\\bword', 'a^b', 'a$b', '(?i:a)b', '\\pL', '[[:alpha:]]', '[abc'])
    suite.throws(() => luceneExpression(pattern), { code: 'STORE_QUERY_INVALID' }, pattern);
});

t.test('queries on a real engine', skipWithoutOpenSearch(), async (suite) => {
  const prefix = newPrefix();
  const store = await openStore(suite);
  const create = async (number: number, documents: readonly Record<string, unknown>[]) => {
    const index = `${prefix}_${number}`;
    await store.indices.create(index, indexOptions(prefix));
    suite.match(await store.documents.write(batchOf(index, documents, number * 100)), { failures: [] });
    await store.indices.refresh([index]);
    return index;
  };
  const find = async (indices: readonly string[], query: QueryNode, more = {}) =>
    (await store.queries.search({ indices, query, limit: 20_000, ...more })).hits.map((hit) => hit._id.slice(0, -2));
  const term = (field: string, text: string): QueryNode => ({ kind: 'term', field, text });

  await suite.test('the analyzer of the engine cuts words as wordsOf does', async (test) => {
    const client = createOpenSearchClient({ nodes: [openSearchNode() ?? ''], requestTimeoutMs: 10_000 });
    test.teardown(() => client.close());
    const index = `${newPrefix()}_0`;
    await client.request({
      method: 'PUT',
      path: `/${index}`,
      body: indexBody(index, indexOptions(index.slice(0, -2)), { maxFields: 100, flatNames: true }),
    });
    test.teardown(() => client.request({ method: 'DELETE', path: `/${index}` }));
    const analyze = async (texts: readonly string[]): Promise<string[]> => {
      const { body } = await client.request({
        method: 'POST',
        path: `/${index}/_analyze`,
        body: { analyzer: 'words', text: texts },
      });
      return (body as { tokens: { token: string }[] }).tokens.map(({ token }) => token);
    };
    const nasty = [
      'GET /api/v1/users?id=42&x=a%20b HTTP/1.1',
      'java.lang.NullPointerException: at com.x.Y$Inner.<init>(Y.java:10)',
      '[2026-11-21T10:00:00.000Z] ERROR {"k":"v"}',
      'Straße ÀÉ İstanbul ΣΑΣ ǅ',
      'a\u00a0b\u2007c\u202fd\u2028e\u3000f',
      'tab\tline\r\nform\fvert\vnul\u0000bell\u0007del\u007fnel\u0085',
      'zero\u200bwidth\u200djoin\ufeffbom',
      '日本語のログ 한국어',
      'snake_case-kebab.dot,comma;semi',
      '😀smile👍🏽ok',
      `${'x'.repeat(5_000)} ${'ä'.repeat(300)}`,
      'C:\\Users\\a "quoted" \'single\' `tick` ^ ~ ´ ¨',
      '10.0.0.1:443 fe80::1%eth0 50% $5 €3 <b>',
      '',
      '---',
    ];
    for (const [at, text] of nasty.entries()) test.same(await analyze([text]), wordsOf(text), `sample ${at}`);
    const random = fc.sample(
      fc.string({
        unit: fc.oneof(
          fc.constantFrom('a', 'B', ' ', '-', '\t', 'İ', 'ς', 'Σ', '_', '\u00ad'),
          fc
            .integer({ min: 1, max: 0xd7ff })
            .map((code) => String.fromCodePoint(code))
            .filter((one) => /[\p{L}\p{N}\p{M}\p{Z}\p{P}\p{S}\p{Cc}]/u.test(one) && isOld(one)),
        ),
        maxLength: 40,
      }),
      { seed: 11, numRuns: 300 },
    );
    test.same(await analyze(random), random.flatMap(wordsOf));
  });

  await suite.test('indices that type a field differently are searched together', async (test) => {
    const numbers = await create(0, [
      { timestamp: '2026-01-01T00:00:00.000Z', v: 5 },
      { timestamp: '2026-01-03T00:00:00.000Z', v: 7 },
    ]);
    const texts = await create(1, [
      { timestamp: '2026-01-02T00:00:00.000Z', v: '5' },
      { timestamp: '2026-01-04T00:00:00.000Z', v: 'five' },
    ]);
    const none = await create(2, [{ timestamp: '2026-01-05T00:00:00.000Z' }]);
    const all = [none, texts, numbers];
    test.same(await find(all, term('v', '5')), [idOf(100), idOf(0)]);
    test.same(await find(all, term('v', 'five')), [idOf(101)]);
    test.same(await find(all, { kind: 'wildcard', field: 'v', pattern: 'f*' }), [idOf(101)]);
    test.same(await find(all, { kind: 'range', field: 'v', from: { value: 6, inclusive: true }, to: undefined }), [
      idOf(1),
    ]);
    test.same(await find(all, { kind: 'not', child: { kind: 'exists', field: 'v' } }), [idOf(200)]);
    test.same(await find(all, { kind: 'or', children: [term('v', '5'), term('v', 'five')] }, { limit: 2 }), [
      idOf(101),
      idOf(100),
    ]);
    test.same(
      (await store.queries.search({ indices: [...all, `${prefix}_77`], query: term('v', '5'), limit: 1 })).skipped,
      [`${prefix}_77`],
    );
  });

  await suite.test(
    'fields that an index had no room for, and values too long for it, are found by their names',
    async (test) => {
      const index = `${prefix}_3`;
      await store.indices.create(index, indexOptions(prefix));
      const coercion = createMappingCoercion({ maxFields: 15 });
      const documents = [
        { message: 'm', a: 1, b: 'two', 'c*': 'x=y' },
        { message: 'm', a: 2, e: 'x'.repeat(40_000) },
        { e: 'y' },
      ].map((document) => coercion.coerce(index, document));
      test.match(await store.documents.write({ ...batchOf(index, [{}, {}, {}], 300), documents }), {
        stored: 3,
        failures: [],
      });
      await store.indices.refresh([index]);
      test.same(await find([index], term('b', 'two')), [idOf(300)]);
      test.same(await find([index], term('c*', 'x=y')), [idOf(300)]);
      test.same(await find([index], { kind: 'wildcard', field: 'c*', pattern: 'x?y' }), [idOf(300)]);
      test.same(await find([index], { kind: 'regex', field: 'b', pattern: 't.o' }), [idOf(300)]);
      test.same(await find([index], { kind: 'exists', field: 'b' }), [idOf(300)]);
      test.same((await find([index], { kind: 'exists', field: 'e' })).sort(), [idOf(301), idOf(302)]);
    },
  );

  await suite.test(
    'an engine that takes dots for objects refuses a conflict of names, and the fitter repairs it',
    async (test) => {
      const older = await openStore(test, { flatNames: false });
      const index = `${newPrefix()}_0`;
      await older.indices.create(index, indexOptions(index.slice(0, -2)));
      const coercion = createMappingCoercion({ maxFields: 100 });
      const documents = [{ 'a.b': 5, c: 'x' }, { a: 'plain' }, { 'c.d': 'deep' }, { 'a.b': 'text' }].map((document) =>
        coercion.coerce(index, document),
      );
      const batch = { ...batchOf(index, [{}, {}, {}, {}], 0), documents };
      const first = await older.documents.write(batch);
      test.match(first, {
        stored: 2,
        failures: [
          { position: 1, kind: 'refused' },
          { position: 2, kind: 'refused' },
        ],
      });
      const repaired = documents.map((document, at) => {
        const failure = first.failures.find(({ position }) => position === at);
        return failure === undefined ? document : (coercion.repair(document, failure, index) ?? document);
      });
      test.match(await older.documents.write({ ...batch, documents: repaired }), {
        stored: 2,
        alreadyStored: 2,
        failures: [],
      });
      await older.indices.refresh([index]);
      test.same(await find([index], term('a.b', '5')), [idOf(0)]);
      test.same(await find([index], term('a', 'plain')), [idOf(1)]);
      test.same(await find([index], term('c.d', 'deep')), [idOf(2)]);
      test.same(await find([index], term('a.b_text', 'text')), [idOf(3)]);
      test.equal((await older.indices.fieldTypes(index)).get('a.b'), 'number');
    },
  );

  await suite.test('more hits than the engine gives at once are fetched page by page', async (test) => {
    const index = await create(4, []);
    const count = 10_500;
    const documents = Array.from({ length: count }, (_, at) => ({
      timestamp: new Date(Date.UTC(2026, 0, 1) + Math.floor(at / 7)).toISOString(),
    }));
    test.match(await store.documents.write(batchOf(index, documents, 0)), { stored: count });
    await store.indices.refresh([index]);
    const found = await find([index], { kind: 'all' });
    test.same(
      found,
      Array.from({ length: count }, (_, at) => idOf(count - 1 - at)),
    );
    const scanned: string[] = [];
    await store.queries.scanIds([index], (ids) => {
      scanned.push(...ids);
    });
    test.equal(new Set(scanned).size, count);
  });

  await suite.test(
    'an expression that the engine cannot run is a typed error that names the construct',
    async (test) => {
      await test.rejects(find([`${prefix}_4`], { kind: 'regex', field: 'v', pattern: '\\bx' }), {
        code: 'STORE_QUERY_INVALID',
        retryable: false,
      });
      await test.rejects(find([`${prefix}_1`], { kind: 'regex', field: 'v', pattern: '.*a.{30}' }), {
        code: 'STORE_QUERY_INVALID',
        retryable: false,
      });
      await test.rejects(find([`${prefix}_4`], { kind: 'all' }, { sort: { field: 'message', direction: 'asc' } }), {
        code: 'STORE_QUERY_INVALID',
      });
    },
  );
});

/** Engines of different age know different characters: only those that both have known for long are compared. */
function isOld(one: string): boolean {
  return RE2JS.matches('[\\pL\\pN\\pM\\pZ\\pP\\pS\\p{Cc}]', one);
}
