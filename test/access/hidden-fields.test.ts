/**
 * A field that occurs only in messages that may not be read answers as one that occurs nowhere: on both stores, however
 * it is asked for.
 */
import t, { type Test } from 'tap';
import { Registry } from '../../core/metrics.js';
import type { SearchScope } from '../../schemas/access.js';
import type { AskedAggregate, Searcher } from '../../search/contract.js';
import { createSearcher } from '../../search/searcher.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { openSearchNode } from '../engines.js';
import { searchSettings } from '../search/settings.js';
import { batchOf, indexOptions, type StoredDocument } from '../sinks/stores/contract/contract.js';
import { openStore as openDuckStore } from '../sinks/stores/duckdb/support/open-store.js';
import { openStore as openOpenSearchStore } from '../sinks/stores/opensearch/open-store.js';

const kinds: Readonly<Record<string, unknown>> = {
  text: 'some words',
  number: 7,
  flag: true,
  time: '2026-01-02T03:04:05.000Z',
  list: ['x', 'y'],
};
const named = (prefix: string): StoredDocument =>
  Object.fromEntries(Object.entries(kinds).map(([kind, value]) => [`${prefix}_${kind}`, value]));
const document = (at: number, streams: readonly string[], more: StoredDocument): StoredDocument => {
  const time = new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString();
  return { timestamp: time, receive_time: time, source: 'host', message: `message ${at}`, streams, ...more };
};

const scopes: readonly (readonly [title: string, scope: SearchScope, hidden: string])[] = [
  ['who reads nothing', { streams: [], except: ['audit-logs'], deadLetters: false }, 'bravo'],
  ['who reads another stream', { streams: ['alpha'], except: ['audit-logs'], deadLetters: false }, 'bravo'],
  ['who reads all but Audit logs', { streams: 'all', except: ['audit-logs'], deadLetters: false }, 'audit'],
];
const metrics = [
  'cardinality',
  'min',
  'max',
  'sum',
  'average',
  'percentile',
  'sum_of_squares',
  'variance',
  'deviation',
  'latest',
] as const;

async function answersAbout(searcher: Searcher, scope: SearchScope, field: string): Promise<readonly unknown[]> {
  const told = async (ask: () => Promise<unknown>): Promise<unknown> => {
    const answer = await ask().catch((error: unknown) => ({
      code: (error as { code?: unknown }).code,
      message: (error as Error).message,
    }));
    return JSON.parse(
      JSON.stringify(answer, (key, value: unknown) => (key === 'tookMs' ? undefined : value)).replaceAll(
        field,
        'FIELD',
      ),
    ) as unknown;
  };
  const messages = (query: string, more: object = {}) =>
    told(() => searcher.messages({ query, limit: 10, ...more }, { scope }));
  const aggregate = (asked: object) =>
    told(() => searcher.aggregate({ query: '', aggregate: asked as AskedAggregate }, { scope }));
  const queries = [
    `_exists_:${field}`,
    `NOT _exists_:${field}`,
    `${field}:7`,
    `${field}:some`,
    `${field}:"some words"`,
    `${field}:>3`,
    `${field}:[a TO z]`,
    `${field}:/.*/`,
    `${field}:so*`,
    `NOT ${field}:true`,
    `${field}:x OR message:message`,
  ];
  const rows = async (): Promise<unknown> => {
    const all: unknown[] = [];
    for await (const batch of searcher.rows(
      { query: '', fields: ['source', field], sort: { field, direction: 'desc' } },
      { scope },
    ))
      all.push(...batch);
    return all;
  };
  return [
    ...(await Promise.all(queries.map((query) => messages(query)))),
    await messages('', { sort: { field, direction: 'asc' } }),
    await messages('', { sort: { field, direction: 'desc' }, fields: [field] }),
    await told(rows),
    ...(await Promise.all(
      metrics.map((kind) =>
        aggregate({ groups: [], metrics: [{ kind, field, ...(kind === 'percentile' ? { percentile: 50 } : {}) }] }),
      ),
    )),
    await aggregate({ groups: [{ kind: 'values', field, limit: 10 }], metrics: [{ kind: 'count' }] }),
    await aggregate({
      groups: [
        { kind: 'values', field: 'source', limit: 10 },
        { kind: 'values', field, limit: 10 },
      ],
      metrics: [{ kind: 'count' }],
    }),
  ];
}

function suite(name: string, open: (test: Test) => Promise<IndexStore>): void {
  t.test(name, async (test) => {
    const store = await open(test);
    const set = `hidden-${Math.random().toString(36).slice(2, 12)}`;
    await store.indices.create(`${set}_0`, indexOptions(set));
    await store.documents.write(
      batchOf(`${set}_0`, [
        document(1, ['alpha'], { lane: 1 }),
        document(2, ['bravo'], named('bravo')),
        document(3, ['alpha', 'audit-logs'], named('audit')),
        document(4, ['all-messages'], { lane: 2 }),
      ]),
    );
    await store.indices.refresh([`${set}_0`]);
    const searcher = createSearcher({
      store,
      indexSets: () => [set],
      deadLetterSet: `${set}-letters`,
      settings: searchSettings,
      registry: new Registry(),
    });
    for (const [title, scope, hidden] of scopes) {
      for (const kind of Object.keys(kinds))
        test.same(
          await answersAbout(searcher, scope, `${hidden}_${kind}`),
          await answersAbout(searcher, scope, `nowhere_${kind}`),
          `${title}: a hidden ${kind}`,
        );
      test.same(
        [...(await searcher.fields(scope)).keys()].filter((field) => field.startsWith(hidden)),
        [],
        title,
      );
    }
  });
}

suite('embedded', (test) => openDuckStore(test));
if (openSearchNode() === undefined) t.pass('OpenSearch is left out: SLUICE_TEST_OPENSEARCH is not set');
else suite('opensearch', (test) => openOpenSearchStore(test));
