/** The searcher over a real store: the scope, pages, exports, tails, limits. One suite for both stores. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { Registry } from '../../core/metrics.js';
import { apiIdOf } from '../../core/object-ids.js';
import { unrestrictedScope, type SearchScope } from '../../schemas/access.js';
import type { SearchHit } from '../../schemas/query.js';
import { aggregateDocuments } from '../../search/reference/aggregate.js';
import type { AskedAggregate, Searcher, SearchOptions } from '../../search/contract.js';
import { createSearcher, type SearcherOptions } from '../../search/searcher.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { storeErrors } from '../../sinks/stores/errors.js';
import { batchOf, indexOptions, type StoredDocument } from '../sinks/stores/contract/contract.js';
import { fuzzes } from './fuzz-suite.js';
import { searchSettings } from './settings.js';

const start = Date.UTC(2026, 0, 1);

/** A few seconds each. */
const fuzzRuns = { embedded: 150, opensearch: 150 } as const;

interface Filled {
  readonly searcher: Searcher;
  readonly main: string;
  readonly letters: string;
  create(more?: Partial<SearcherOptions>): Searcher;
}

const document = (at: number, streams: readonly string[], more: StoredDocument = {}): StoredDocument => {
  const time = new Date(start + at * 1000).toISOString();
  return {
    timestamp: time,
    receive_time: time,
    source: `host-${at % 2}`,
    message: `message ${at}`,
    number: at,
    streams,
    ...more,
  };
};

/** a: 0..9, b: 10..19, a and b: 20..24, audit and a: 25..29; one dead letter. */
const documents: readonly StoredDocument[] = Array.from({ length: 30 }, (_, at) => {
  if (at < 10) return document(at, ['a'], { only_a: at });
  if (at < 20) return document(at, ['b'], { only_b: `value-${at}` });
  return at < 25 ? document(at, ['a', 'b']) : document(at, ['audit', 'a'], { only_audit: 'secret' });
});

async function fill(store: IndexStore): Promise<Filled> {
  const main = `searcher-${randomBytes(5).toString('hex')}`;
  const letters = `${main}-letters`;
  for (const set of [main, letters]) await store.indices.create(`${set}_0`, indexOptions(set));
  await store.documents.write(batchOf(`${main}_0`, documents));
  await store.documents.write(batchOf(`${letters}_0`, [document(0, ['letters'], { message: 'broken letter' })]));
  await store.indices.refresh([`${main}_0`, `${letters}_0`]);
  const create = (more: Partial<SearcherOptions> = {}): Searcher =>
    createSearcher({
      store,
      indexSets: () => [main, letters],
      streams: () => ['a', 'b', 'audit'],
      deadLetterSet: letters,
      settings: searchSettings,
      registry: new Registry(),
      ...more,
    });
  return { searcher: create(), main, letters, create };
}

const only = (...streams: readonly string[]): SearchScope => ({ streams, except: [], deadLetters: false });
const everything: SearchOptions = { scope: unrestrictedScope };
const oldestFirst = { field: 'timestamp', direction: 'asc' } as const;

function numbers(hits: readonly SearchHit[]): number[] {
  return hits.map((hit) => Number(hit.document['number']));
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

export function searcherSuite(name: string, open: (test: Test) => Promise<IndexStore>): void {
  t.test(`${name}: the searcher`, async (suite) => {
    const store = await open(suite);
    const filled = await fill(store);
    await suite.test('a scope', (test) => scopes(test, filled));
    await suite.test('answers', (test) => answers(test, filled));
    await suite.test('exports', (test) => exports(test, filled, store));
    await suite.test('exports of what goes', (test) => lost(test, filled));
    await suite.test('tails', (test) => tails(test, filled, store));
    await suite.test('ends', (test) => ends(test, filled));
    await suite.test('random queries', (test) =>
      fuzzes(
        test,
        store,
        (set) => filled.create({ indexSets: () => [set], now: () => Date.UTC(2026, 2, 10) }),
        fuzzRuns[store.capabilities().name],
      ),
    );
  });
}

async function found(
  searcher: Searcher,
  scope: SearchScope,
  query = '',
  more: { readonly streams?: readonly string[]; readonly indexSets?: readonly string[] } = {},
): Promise<number[]> {
  const { messages, total } = await searcher.messages({ query, limit: 100, sort: oldestFirst, ...more }, { scope });
  if (total !== messages.length) throw new Error(`${total} counted, ${messages.length} shown`);
  return numbers(messages);
}

async function scopes(test: Test, { searcher, main, letters }: Filled): Promise<void> {
  await test.test('shows messages of its streams only, never one in an excepted stream', async (t) => {
    t.same(await found(searcher, unrestrictedScope), range(0, 30));
    t.same(await found(searcher, only('a')), [...range(0, 10), ...range(20, 30)]);
    t.same(await found(searcher, only('b')), range(10, 25));
    t.same(
      await found(searcher, only('b', ...Array.from({ length: 3_000 }, (_, at) => `stream-${at}`))),
      range(10, 25),
      'also one of very many',
    );
    t.same(
      await found(searcher, {
        streams: 'all',
        except: ['b', ...Array.from({ length: 3_000 }, (_, at) => `stream-${at}`)],
        deadLetters: false,
      }),
      [...range(0, 10), ...range(25, 30)],
    );
    t.same(await found(searcher, { ...only('a'), except: ['audit'] }), [...range(0, 10), ...range(20, 25)]);
    t.same(await found(searcher, { streams: 'all', except: ['audit'], deadLetters: false }), range(0, 25));
    t.same(
      await found(searcher, { streams: ['a', 'audit'], except: ['audit'], deadLetters: false }, '', {
        streams: ['audit'],
      }),
      [],
    );
    t.same(await found(searcher, only()), [], 'nothing named, nothing found');
  });
  await test.test('narrows what is asked for, and widens nothing', async (t) => {
    t.same(await found(searcher, only('a'), '', { streams: ['b'] }), []);
    t.same(await found(searcher, only('a', 'b'), '', { streams: ['b'] }), range(10, 25));
    t.same(await found(searcher, unrestrictedScope, '', { streams: ['a', 'nowhere'] }), [
      ...range(0, 10),
      ...range(20, 30),
    ]);
    t.same(await found(searcher, only('a'), 'NOT streams:a'), []);
    t.same(await found(searcher, only('b'), 'number:>=0 OR *'), range(10, 25));
  });
  await test.test('does not tell which other streams a message is in', async (t) => {
    for (const query of [
      'streams:b',
      'streams:/b/',
      'streams:b*',
      'streams:[b TO b]',
      'streams:audit',
      'streams:?udit',
      'streams:(b OR audit)',
    ])
      t.same(await found(searcher, only('a'), query), [], query);
    t.same(await found(searcher, only('a'), 'NOT streams:b'), [...range(0, 10), ...range(20, 30)]);
    t.same(await found(searcher, only('a'), `streams:${apiIdOf('b')}`), [], 'by its other name');
    t.same(await found(searcher, only('a'), `NOT streams:${apiIdOf('b')}`), [...range(0, 10), ...range(20, 30)]);
    const { messages } = await searcher.messages({ query: 'number:>=20', limit: 10 }, { scope: only('a') });
    t.ok(messages.every((hit) => String(hit.document['streams']) === 'a'));
    const groups = await searcher.aggregate(
      { query: '', aggregate: { groups: [{ kind: 'values', field: 'streams' }], metrics: [{ kind: 'count' }] } },
      { scope: only('a') },
    );
    t.same(
      groups.buckets.map(({ key, documents: count }) => [key, count]),
      [[['a'], 20]],
    );
    await t.rejects(
      searcher.aggregate(
        { query: '', aggregate: { groups: [], metrics: [{ kind: 'cardinality', field: 'streams' }] } },
        { scope: only('a') },
      ),
      { code: 'SEARCH_AGGREGATE_INVALID' },
    );
  });
  await test.test('every question finds a stream by the name that the API shows', async (t) => {
    const query = `streams:(${apiIdOf('b')} OR "${apiIdOf('audit')}")`;
    t.same(await found(searcher, unrestrictedScope, query), range(10, 30));
    t.same(await found(searcher, only('a', 'b'), query), range(10, 25));
    t.equal((await searcher.aggregate({ query, aggregate: { groups: [], metrics: [] } }, everything)).total, 20);
    let rows = 0;
    for await (const batch of searcher.rows({ query }, everything)) rows += batch.length;
    t.equal(rows, 20);
  });
  await test.test('holds for counts, groups and fields', async (t) => {
    const { total, buckets } = await searcher.aggregate(
      { query: '', aggregate: { groups: [{ kind: 'values', field: 'only_b' }], metrics: [] } },
      { scope: only('a') },
    );
    t.same([total, buckets], [20, []]);
    const names = async (scope: SearchScope): Promise<string[]> =>
      [...(await searcher.fields(scope)).keys()].filter((name) => name.startsWith('only_')).sort();
    t.same(await names(unrestrictedScope), ['only_a', 'only_audit', 'only_b']);
    t.same(await names(only('b')), ['only_b']);
    t.same(await names({ streams: 'all', except: ['audit'], deadLetters: false }), ['only_a', 'only_b']);
    t.same([...(await searcher.fields(only()))], []);
    t.equal((await searcher.fields(only('a'))).get('number'), 'number');
  });
  await test.test('one message: missing and forbidden are the same', async (t) => {
    const id = (at: number): string => batchOf('x', documents).ids[at] as string;
    t.equal((await searcher.message(`${main}_0`, id(3), only('a')))?.document['number'], 3);
    t.same((await searcher.message(`${main}_0`, id(22), only('a')))?.document['streams'], ['a']);
    const nothing = [
      searcher.message(`${main}_0`, id(12), only('a')),
      searcher.message(`${main}_0`, 'nobody', only('a')),
      searcher.message(`${main}_7`, id(3), only('a')),
      searcher.message('other_0', id(3), unrestrictedScope),
      searcher.message(`${main}_0`, id(27), { ...only('a'), except: ['audit'] }),
      searcher.message(`${letters}_0`, id(0), { streams: 'all', except: [], deadLetters: false }),
      searcher.message(main, id(3), unrestrictedScope),
    ];
    t.same(
      await Promise.all(nothing),
      nothing.map(() => undefined),
    );
    t.equal((await searcher.message(`${letters}_0`, id(0), unrestrictedScope))?.document['message'], 'broken letter');
  });
  await test.test('dead letters are found by name only, and only by those who may', async (t) => {
    t.same(await found(searcher, unrestrictedScope, 'broken'), []);
    t.same(await found(searcher, unrestrictedScope, 'broken', { indexSets: [letters] }), [0]);
    t.same(
      await found(searcher, { streams: 'all', except: [], deadLetters: false }, 'broken', { indexSets: [letters] }),
      [],
    );
    t.same(await found(searcher, unrestrictedScope, '', { indexSets: ['nowhere'] }), []);
  });
}

async function answers(test: Test, { searcher, create }: Filled): Promise<void> {
  await test.test('pages by any field, with the total on each', async (t) => {
    for (const field of ['timestamp', 'number', 'source', 'only_b', '_id']) {
      const seen: number[] = [];
      let after: string | undefined;
      do {
        const answer = await searcher.messages(
          { query: '', limit: 7, sort: { field, direction: 'desc' }, after },
          everything,
        );
        t.equal(answer.total, 30);
        seen.push(...numbers(answer.messages));
        after = answer.next;
      } while (after !== undefined);
      t.same(
        [...seen].sort((a, b) => a - b),
        range(0, 30),
        field,
      );
    }
    t.same(
      numbers((await searcher.messages({ query: '', limit: 3, offset: 25, sort: oldestFirst }, everything)).messages),
      [25, 26, 27],
    );
    t.match(await searcher.messages({ query: '', limit: 3, offset: 30, sort: oldestFirst }, everything), {
      total: 30,
      messages: [],
      next: undefined,
    });
  });
  await test.test('the latest value in each bucket is that of its newest message', async (t) => {
    const latest = ['number', 'message', 'streams', 'only_b', 'timestamp', 'nowhere'].map((field) => ({
      kind: 'latest' as const,
      field,
    }));
    const asks: readonly AskedAggregate[] = [
      { groups: [], metrics: latest },
      {
        groups: [{ kind: 'values', field: 'source' }],
        metrics: [...latest, { kind: 'max', field: 'number' }],
        sort: { by: 6, direction: 'asc' },
      },
      {
        groups: [
          { kind: 'values', field: 'only_b' },
          { kind: 'values', field: 'streams' },
        ],
        metrics: [{ kind: 'count' }, ...latest],
      },
      {
        groups: [{ kind: 'values', field: 'number', limit: 7 }],
        metrics: latest,
        sort: { by: 'key', direction: 'desc' },
      },
      {
        groups: [
          { kind: 'time', field: 'timestamp', interval: { unit: 'second', count: 7 } },
          { kind: 'values', field: 'source' },
        ],
        metrics: latest,
      },
      { groups: [{ kind: 'time', field: 'receive_time', interval: { unit: 'month', count: 3 } }], metrics: latest },
    ];
    for (const aggregate of asks) {
      const { buckets } = await searcher.aggregate({ query: 'number:<28', aggregate }, everything);
      t.same(buckets, aggregateDocuments(documents.slice(0, 28), { query: { kind: 'all' }, ...aggregate }).buckets);
    }
    const many = {
      groups: [{ kind: 'values' as const, field: 'number', limit: 100 }],
      metrics: Array.from({ length: 40 }, () => ({ kind: 'latest' as const, field: 'source' })),
    };
    await t.rejects(searcher.aggregate({ query: '', aggregate: many }, everything), {
      code: 'SEARCH_AGGREGATE_INVALID',
      place: 'metrics',
    });
    await t.rejects(
      searcher.aggregate({ query: '', aggregate: { groups: [], metrics: latest } }, { scope: only('a') }),
      { code: 'SEARCH_AGGREGATE_INVALID' },
      'streams of which some are not to be seen',
    );
    await t.rejects(
      searcher.aggregate(
        {
          query: '',
          aggregate: {
            groups: [{ kind: 'values', field: 'source' }],
            metrics: latest,
            sort: { by: 0, direction: 'asc' },
          },
        },
        everything,
      ),
      { code: 'SEARCH_AGGREGATE_INVALID', place: 'sort' },
    );
    const restricted = await searcher.aggregate(
      { query: '', aggregate: { groups: [], metrics: [{ kind: 'latest', field: 'number' }] } },
      { scope: only('b') },
    );
    t.same(restricted.buckets[0]?.values, [24]);
  });
  await test.test('refuses by name what it cannot do', async (t) => {
    const ask = (more: object): Promise<unknown> => searcher.messages({ query: '', limit: 1, ...more }, everything);
    await t.rejects(ask({ query: 'a AND (b' }), { code: 'SEARCH_QUERY_INVALID', place: /^character \d+$/ });
    await t.rejects(ask({ sort: { field: 'message', direction: 'asc' } }), { code: 'SEARCH_SORT_FIELD' });
    await t.rejects(ask({ sort: { field: 'streams', direction: 'asc' } }), { code: 'SEARCH_SORT_FIELD' });
    await t.rejects(ask({ limit: 10_001 }), { code: 'SEARCH_LIMIT' });
    await t.rejects(ask({ offset: -1 }), { code: 'SEARCH_LIMIT' });
    for (const after of ['', 'x', Buffer.from('[1,2]').toString('base64url')])
      await t.rejects(ask({ after }), { code: 'SEARCH_CURSOR_INVALID' });
    const { next } = await searcher.messages({ query: '', limit: 1 }, everything);
    await t.rejects(ask({ after: next, sort: oldestFirst }), { code: 'SEARCH_CURSOR_INVALID' });
    const strict = create({ settings: { ...searchSettings, leading_wildcards: false, max_clauses: 10 } });
    await t.rejects(strict.messages({ query: 'message:*rror', limit: 1 }, everything), {
      code: 'SEARCH_QUERY_INVALID',
      place: 'character 9',
    });
    await t.rejects(strict.messages({ query: 'a b c d', limit: 1 }, everything), {
      code: 'SEARCH_QUERY_INVALID',
      place: 'character 7',
      got: /^12 clauses/,
    });
    t.equal(
      (await strict.messages({ query: '* number:1*', limit: 1 }, everything)).total,
      30,
      'a lone star is no wildcard',
    );
  });
}

async function exports(test: Test, { searcher }: Filled, store: IndexStore): Promise<void> {
  const read = async (rows: AsyncIterable<readonly SearchHit[]>): Promise<SearchHit[]> => {
    const all: SearchHit[] = [];
    for await (const batch of rows) all.push(...batch);
    return all;
  };
  await test.test('gives every row in order, within the scope', async (t) => {
    t.same(numbers(await read(searcher.rows({ query: '', sort: oldestFirst }, everything))), range(0, 30));
    t.same(
      numbers(await read(searcher.rows({ query: 'number:>=5', limit: 4, sort: oldestFirst }, { scope: only('a') }))),
      [5, 6, 7, 8],
    );
    t.same(
      (await read(searcher.rows({ query: 'number:22', fields: ['streams'] }, { scope: only('b') }))).map(
        (hit) => hit.document,
      ),
      [{ streams: ['b'] }],
    );
    t.same(await read(searcher.rows({ query: '' }, { scope: only() })), []);
  });
  await test.test('ends with the signal, and holds no place afterwards', async (t) => {
    const cancelling = new AbortController();
    const rows = searcher.rows({ query: '' }, { ...everything, signal: cancelling.signal })[Symbol.asyncIterator]();
    cancelling.abort();
    await t.rejects(rows.next(), { code: 'SEARCH_CANCELLED' });
    for await (const batch of searcher.rows({ query: '' }, everything)) if (batch.length > 0) break;
    t.equal((await store.queries.search({ indices: [], query: { kind: 'all' }, limit: 1 })).total, 0);
  });
}

async function lost(test: Test, filled: Filled): Promise<void> {
  await test.test('an export is whole or says that it is not', async (t) => {
    const gone = filled.create({
      store: {
        ...emptyStore,
        indices: { ...emptyStore.indices, openNames: async () => ['gone_0'] },
        queries: {
          ...emptyStore.queries,
          async *scan() {
            yield [];
            throw storeErrors.create('STORE_INDEX_MISSING', { place: 'gone_0' });
          },
        },
      },
    });
    await t.rejects(
      async () => {
        for await (const batch of gone.rows({ query: '' }, everything)) t.same(batch, []);
      },
      { code: 'SEARCH_SNAPSHOT_LOST', retryable: true, place: 'gone_0' },
    );
  });
}

async function tails(test: Test, { searcher, main }: Filled, store: IndexStore): Promise<void> {
  await test.test('gives what becomes searchable, oldest first, each once, within the scope', async (t) => {
    const ending = new AbortController();
    const seen: string[] = [];
    const now = Date.now();
    const fresh = (at: number, streams: readonly string[]): StoredDocument =>
      document(Math.floor((now - start) / 1000), streams, {
        message: `fresh ${at}`,
        receive_time: new Date(now + at).toISOString(),
      });
    let written = 0;
    const write = async (...batch: readonly StoredDocument[]): Promise<void> => {
      await store.documents.write(batchOf(`${main}_0`, batch, written, 5));
      written += batch.length;
      await store.indices.refresh([`${main}_0`]);
    };
    await write(fresh(0, ['a']));
    const deadline = setTimeout(() => ending.abort(), 60_000);
    for await (const batch of searcher.tail(
      { query: `fresh AND streams:${apiIdOf('a')}` },
      { scope: only('a'), signal: ending.signal },
    )) {
      if (batch.length === 0) await write(fresh(3, ['a']), fresh(1, ['a']), fresh(2, ['b']));
      else if (seen.length === 0) await write(fresh(-5, ['a']), fresh(4, ['a', 'b']));
      seen.push(...batch.map((hit) => String(hit.document['message'])));
      if (seen.length >= 4) ending.abort();
    }
    clearTimeout(deadline);
    t.same(seen, ['fresh 1', 'fresh 3', 'fresh -5', 'fresh 4']);
  });
}

async function ends(test: Test, { searcher, create }: Filled): Promise<void> {
  await test.test('a cancelled search says so', async (t) => {
    await t.rejects(searcher.messages({ query: '', limit: 1 }, { ...everything, signal: AbortSignal.abort() }), {
      code: 'SEARCH_CANCELLED',
    });
  });
  await test.test('a search past its deadline says so, also one that waits', async (t) => {
    const hanging = create({
      settings: { ...searchSettings, concurrent: 1, deadline_ms: 50 },
      store: { ...emptyStore, indices: { ...emptyStore.indices, openNames: () => new Promise(() => {}) } },
    });
    const first = t.rejects(hanging.messages({ query: '', limit: 1 }, everything), {
      code: 'SEARCH_DEADLINE_EXCEEDED',
    });
    await t.rejects(hanging.messages({ query: '', limit: 1 }, { ...everything, deadlineMs: 10 }), {
      code: 'SEARCH_DEADLINE_EXCEEDED',
    });
    await first;
  });
}

const emptyStore: SearcherOptions['store'] = {
  indices: { openNames: async () => [], fieldTypes: async () => new Map() },
  documents: { read: async () => new Map() },
  queries: {
    search: async () => ({ total: 0, hits: [], skipped: [] }),
    aggregate: async () => ({ total: 0, buckets: [], otherDocuments: 0, skipped: [] }),
    async *scan() {},
    occurringFields: async () => new Set(),
  },
};
