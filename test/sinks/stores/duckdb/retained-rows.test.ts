/**
 * The same searches again and again while messages come in: what is kept of the searches before never shows in an
 * answer.
 */
import t from 'tap';
import { Registry } from '../../../../core/metrics.js';
import { createRandom, pick } from '../../../../load/random.js';
import type { QueryNode, SearchAfter, SearchRequest } from '../../../../schemas/query.js';
import { compileQuery } from '../../../../search/reference/evaluate.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import type { DuckStoreOptions } from '../../../../sinks/stores/duckdb/store.js';
import { metricValue } from '../../../topics/embedded/folder.js';
import { batchOf, idOf, type StoredDocument } from '../contract/contract.js';
import { createIndex, openStore } from './support/open-store.js';

t.setTimeout(90_000);

const words = ['alpha', 'beta', 'gamma', 'delta', 'alphabet', 'al-pha'];
const start = Date.UTC(2026, 0, 1);
const rounds = 10;
const id = (at: number): string => `${idOf(at)}-0`;
const roundDocuments = 40;

const queries: readonly QueryNode[] = [
  { kind: 'term', field: undefined, text: 'alpha' },
  { kind: 'phrase', field: 'message', text: 'beta gamma' },
  { kind: 'wildcard', field: 'message', pattern: 'al*' },
  { kind: 'regex', field: 'message', pattern: 'al[a-z]+(et|ha)' },
  {
    kind: 'and',
    children: [
      { kind: 'term', field: 'namespace', text: 'shop' },
      { kind: 'not', child: { kind: 'term', field: 'message', text: 'delta' } },
    ],
  },
  { kind: 'not', child: { kind: 'term', field: 'namespace', text: 'shop' } },
  { kind: 'exists', field: 'namespace' },
  {
    kind: 'and',
    children: [
      { kind: 'term', field: undefined, text: 'ALPHA' },
      {
        kind: 'and',
        children: [
          { kind: 'phrase', field: undefined, text: 'beta-gamma' },
          { kind: 'term', field: 'namespace', text: 'shop' },
        ],
      },
    ],
  },
  {
    kind: 'or',
    children: [
      { kind: 'term', field: undefined, text: 'delta' },
      { kind: 'term', field: 'namespace', text: 'mail' },
    ],
  },
  { kind: 'term', field: undefined, text: 'H' },
];

type Stored = StoredDocument & { readonly timestamp: string };

for (const retainedBytes of [2 ** 20, 2 ** 15, 2 ** 12])
  t.test(
    `repeated searches answer as plain code does, in pages, backwards and by groups, with ${retainedBytes} bytes for what is kept`,
    async (t) => {
      const registry = new Registry();
      const { store, index } = await openIndex(t, { retainedBytes, registry });
      const kept = async (): Promise<number> => metricValue(registry, 'sluice_store_kept_bytes', { store: 'embedded' });
      let most = 0;
      const random = createRandom(5);
      const documents: Stored[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const fresh = Array.from(
          { length: roundDocuments },
          (): Stored => ({
            message:
              Array.from({ length: 1 + (random() % 4) }, () => pick(random, words)).join(
                pick(random, [' ', ', ', '\n']),
              ) + (random() % 60 === 0 ? ` ${'long '.repeat(4_000)}` : ''),
            source: 'h',
            timestamp: new Date(start + (random() % 20) * 250).toISOString(),
            ...(random() % 3 === 0 ? {} : { namespace: pick(random, ['shop', 'mail']) }),
          }),
        );
        await store.documents.write(batchOf(index, fresh, documents.length));
        documents.push(...fresh);
        for (const query of queries) {
          const range = pick(random, [
            {},
            { from: start + 1_000 },
            { from: start + 500, to: start + 4_000 },
            { to: start + 3_000 },
          ]);
          const direction = pick(random, ['asc', 'desc'] as const);
          const wanted = expected(documents, query, range, direction);
          const found = await pages(store, {
            indices: [index],
            query,
            ...range,
            limit: 7,
            sort: { field: 'timestamp', direction },
          });
          t.same(
            found,
            { ids: wanted.map(({ id }) => id), totals: [wanted.length] },
            `${JSON.stringify(query)} ${JSON.stringify(range)} ${direction}`,
          );
          const { buckets, total } = await store.queries.aggregate({
            indices: [index],
            query,
            ...range,
            groups: [{ kind: 'time', field: 'timestamp', interval: { unit: 'second', count: 1 } }],
            metrics: [],
          });
          t.same(
            [
              total,
              buckets.reduce((sum, bucket) => sum + bucket.documents, 0),
              new Set(buckets.map(({ key }) => key[0])).size,
            ],
            [wanted.length, wanted.length, new Set(wanted.map(({ time }) => Math.floor(time / 1000))).size],
          );
          most = Math.max(most, await kept());
        }
      }
      t.ok(
        most > 0 && most <= 2 * retainedBytes,
        `${most} bytes were kept at the most: what is too much is given back with the next look`,
      );
    },
  );

t.test('a document that is replaced is found by what it says now', async (t) => {
  const { store, index } = await openIndex(t);
  await store.documents.write(
    batchOf(index, [{ message: 'alpha', source: 'h', timestamp: new Date(start).toISOString() }], 0),
  );
  const count = async (text: string): Promise<number> =>
    (await store.queries.search({ indices: [index], query: { kind: 'term', field: 'message', text }, limit: 10 }))
      .total;
  t.same([await count('alpha'), await count('beta')], [1, 0]);
  const revision = (await store.documents.read(index, [id(0)])).get(id(0))?.revision ?? '';
  await store.documents.update(index, [
    {
      id: id(0),
      document: JSON.stringify({ message: 'beta', source: 'h', timestamp: new Date(start).toISOString() }),
      expected: revision,
    },
  ]);
  t.same([await count('alpha'), await count('beta')], [0, 1]);
});

interface Expected {
  readonly id: string;
  readonly time: number;
}

function expected(
  documents: readonly Stored[],
  query: QueryNode,
  { from = -Infinity, to = Infinity }: Pick<SearchRequest, 'from' | 'to'>,
  direction: 'asc' | 'desc',
): Expected[] {
  const matches = compileQuery(query);
  const sign = direction === 'asc' ? 1 : -1;
  return documents
    .map((document, at) => ({ document, id: id(at), time: Date.parse(document.timestamp) }))
    .filter(({ document, time }) => time >= from && time < to && matches(document))
    .sort((one, other) => sign * (one.time - other.time || (one.id < other.id ? -1 : 1)))
    .map(({ id, time }) => ({ id, time }));
}

/** All pages, each from where the one before ended; the totals that they told. */
async function pages(
  store: IndexStore,
  request: SearchRequest,
): Promise<{ readonly ids: string[]; readonly totals: number[] }> {
  const ids: string[] = [];
  const totals = new Set<number>();
  let after: SearchAfter | undefined;
  do {
    const { hits, total, next } = await store.queries.search({ ...request, ...(after === undefined ? {} : { after }) });
    ids.push(...hits.map((hit) => hit._id));
    totals.add(total);
    after = hits.length < request.limit ? undefined : next;
  } while (after !== undefined);
  return { ids, totals: [...totals] };
}

async function openIndex(
  t: { teardown(action: () => Promise<void>): void },
  more: Partial<DuckStoreOptions> = {},
): Promise<{ readonly store: IndexStore; readonly index: string }> {
  const store = await openStore(t, { memoryBytes: 512 * 2 ** 20, ...more });
  return { store, index: await createIndex(store) };
}
