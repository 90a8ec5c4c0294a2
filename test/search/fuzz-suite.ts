/** Random query texts against a store: typed errors only, and the messages that plain code finds. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import type { Test } from 'tap';
import { isSluiceError } from '../../core/errors.js';
import { unrestrictedScope } from '../../schemas/access.js';
import type { Searcher } from '../../search/contract.js';
import { compileQuery } from '../../search/reference/evaluate.js';
import { parseQuery } from '../../search/language/parser.js';
import { isQueryProblem } from '../../search/language/problem.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { batchOf, indexOptions, type StoredDocument } from '../sinks/stores/contract/contract.js';

const seed = 20261121;
const now = Date.UTC(2026, 2, 10);

const words = [
  'Connection',
  'refused',
  'error',
  'pay-ment',
  'api/v1',
  'x=17',
  '503',
  'ÄÖ',
  'ΟΔΟΣ',
  '😀ok',
  'TO',
  'and',
  'not',
];
const values = ['alice', 'Alice', 'bob smith', 'a*b', '503', '-1.5', 'true', '', 'k8s', 'Zürich', '\\d'];

function documentOf(at: number): StoredDocument {
  const pick = (list: readonly string[], step: number): string =>
    list[(at * step + Math.floor(at / 3)) % list.length] as string;
  const time = new Date(now - at * 3_600_000).toISOString();
  return {
    timestamp: time,
    receive_time: time,
    name: `n${at}`,
    source: at % 2 === 0 ? 'Web-01' : 'db',
    message: `${pick(words, 1)} ${pick(words, 5)}, ${pick(words, 7)}`,
    streams: at % 3 === 0 ? ['s1'] : ['s1', 's2'],
    ...(at % 2 === 0 ? { user: pick(values, 3) } : {}),
    ...(at % 3 !== 0 ? { level: at % 8 } : {}),
    ...(at % 4 === 0 ? { ok: at % 8 === 0 } : {}),
    ...(at % 5 === 0 ? { pod: pick(values, 1) } : {}),
    ...(at % 7 === 0 ? { pod_name: pick(values, 2), 'k8s.app-name': pick(values, 5) } : {}),
    ...(at % 6 === 0 ? { full_message: `stack\n\tat ${pick(words, 3)}` } : {}),
  };
}

const fragments = [
  ...words,
  ...values.filter((value) => value !== ''),
  ...values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`),
  'message:',
  'full_message:',
  'source:',
  'user:',
  'level:',
  'ok:',
  'pod:',
  'pod_name:',
  'k8s.app-name:',
  'streams:',
  'timestamp:',
  'nowhere:',
  '_exists_:',
  '*:',
  ' AND ',
  ' OR ',
  ' NOT ',
  ' and ',
  ' && ',
  ' || ',
  '!',
  '+',
  '-',
  '(',
  ')',
  '(',
  ')',
  ' ',
  ' ',
  ' ',
  '*',
  '?',
  'al*',
  '?lice',
  'CONN*',
  '~',
  '~1',
  '^2',
  '"connection refused"~3',
  '/[a-z]+/',
  '/(?i)ALICE/',
  '/re.*d/',
  '[1 TO 5]',
  '{1 TO 5}',
  '[a TO z}',
  '>=3',
  '<5',
  '>now-1d',
  '[now-2d TO now]',
  '["2026-03-09" TO *]',
  '[* TO 3]',
  '2026-03-09',
  '5.0',
  '\\',
  ':',
  '/',
  '[',
  ']',
  '\u0000',
  '\ud800',
];
const clause = fc
  .tuple(
    fc.constantFrom(
      '',
      'message:',
      'user:',
      'level:',
      'pod:',
      'source:',
      'ok:',
      'k8s.app-name:',
      'timestamp:',
      'streams:',
      '_exists_:',
      'full_message:',
    ),
    fc.constantFrom(...fragments),
  )
  .map(([field, value]) => field + value);
const sound = fc
  .array(fc.tuple(fc.constantFrom(' AND ', ' OR ', ' ', ' AND NOT ', ' +', ' -'), clause), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.map(([operator, text], at) => (at === 0 ? text : operator + text)).join(''));
const wild = fc
  .array(
    fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...fragments) }, fc.string({ unit: 'binary', maxLength: 3 })),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

export async function fuzzes(
  test: Test,
  store: IndexStore,
  create: (indexSet: string) => Searcher,
  runs: number,
): Promise<void> {
  const set = `fuzz-${randomBytes(5).toString('hex')}`;
  const documents = Array.from({ length: 70 }, (_, at) => documentOf(at));
  await store.indices.create(`${set}_0`, indexOptions(set));
  const { failures } = await store.documents.write(batchOf(`${set}_0`, documents));
  await store.indices.refresh([`${set}_0`]);
  test.same(failures, []);
  const searcher = create(set);
  await test.test('any query text finds what plain code finds, or is refused by a typed error', async (t) => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(sound, wild), async (query) => {
        const tree = parseQuery(query, { now });
        try {
          const { messages, total } = await searcher.messages(
            { query, limit: 100, fields: ['name'] },
            { scope: unrestrictedScope },
          );
          const wanted = isQueryProblem(tree)
            ? ['a refusal']
            : documents.filter(compileQuery(tree)).map((document) => document['name']);
          compared += 1;
          const same =
            JSON.stringify(messages.map((hit) => hit.document['name']).sort()) === JSON.stringify([...wanted].sort()) &&
            total === wanted.length;
          if (!same)
            throw new Error(
              `found ${messages.map((hit) => String(hit.document['name'])).join()} of ${total}, wanted ${wanted.join()}`,
            );
        } catch (thrown) {
          if (!isSluiceError(thrown) || thrown.code !== 'SEARCH_QUERY_INVALID') throw thrown;
          if (!isQueryProblem(tree) && store.capabilities().name === 'embedded')
            throw new Error('a readable query was refused', { cause: thrown });
        }
      }),
      { seed, numRuns: runs },
    );
    t.ok(compared > runs / 4, `${compared} of ${runs} texts were compared`);
  });
}
