/** What people type, through the API, over a real store; and how searches end that cannot go on. */
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import t, { type Test } from 'tap';
import { searchValidateRoutes } from '../../../../api/http/routes/search/search-validate.js';
import { suggestRoutes } from '../../../../api/http/routes/search/suggest.js';
import { universalRoutes } from '../../../../api/http/routes/search/universal.js';
import { Registry } from '../../../../core/metrics.js';
import type { SearchSettings } from '../../../../schemas/config/search.js';
import type { SearchableStore } from '../../../../search/store.js';
import { createSearcher } from '../../../../search/searcher.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { storeErrors } from '../../../../sinks/stores/errors.js';
import { batchOf, indexOptions } from '../../../sinks/stores/contract/contract.js';
import { until } from '../../../program.js';
import { searchSettings } from '../../../search/settings.js';
import { brokenQueries, queryDocuments, queryRows } from './query-rows.js';
import { basic, createWorld, type World } from '../world.js';

const settings: SearchSettings = { ...searchSettings, concurrent: 1, queue_length: 10 };

interface Answer {
  readonly total_results: number;
  readonly messages: readonly { readonly message: { readonly name: string } }[];
  readonly partial?: boolean;
  readonly failures?: readonly { readonly index: string; readonly reason: string }[];
}

interface Asking {
  readonly set: string;
  readonly store: IndexStore;
  world(t: Test, more?: Partial<SearchSettings>, store?: SearchableStore): Promise<World>;
}

const ask = (world: World, query: string, path = 'relative?range=0') =>
  world.ask(
    'GET',
    `/api/search/universal/${path}&limit=100&sort=name:asc&fields=name&query=${encodeURIComponent(query)}`,
    { as: 'admin' },
  );
const namesOf = (answer: Answer): string => answer.messages.map(({ message }) => message.name).join('');

export function querySuite(name: string, open: (test: Test) => Promise<IndexStore>): void {
  t.test(`${name}: queries through the API`, async (suite) => {
    const store = await open(suite);
    const now = Date.now();
    const set = `queries-${randomBytes(5).toString('hex')}`;
    const documents = queryDocuments(now).map((one) => ({
      source: 'Host-1',
      streams: ['all-messages'],
      receive_time: new Date(now).toISOString(),
      ...one,
    }));
    // The second index lacks fields of the first, and the other way round.
    for (const [at, part] of [documents.slice(0, 3), documents.slice(3)].entries()) {
      await store.indices.create(`${set}_${at}`, indexOptions(set));
      await store.documents.write(batchOf(`${set}_${at}`, part, at * 10));
    }
    await store.indices.refresh([`${set}_0`, `${set}_1`]);
    const asking: Asking = {
      set,
      store,
      world: (test, more = {}, other = store) =>
        createWorld(test, {
          routes: [universalRoutes, searchValidateRoutes, suggestRoutes],
          settings: Object.fromEntries(Object.entries(more).map(([name, value]) => [`search.${name}`, value])),
          searcher: createSearcher({
            store: other,
            indexSets: () => [set],
            streams: () => ['all-messages', 'Shop Logs', 'audit-logs'],
            deadLetterSet: `${set}-letters`,
            settings: { ...settings, ...more },
            registry: new Registry(),
          }),
        }),
    };
    await suite.test('texts and what they find', (test) => texts(test, asking));
    await suite.test('texts that cannot be read say where', (test) => problems(test, asking));
    await suite.test('texts that find nothing are warned of', (test) => warnings(test, asking));
    await suite.test('suggestions', (test) => suggestions(test, asking));
    await suite.test('ends', (test) => ends(test, asking, store));
    await suite.test('parts', (test) => parts(test, asking, store));
  });
}

async function texts(test: Test, asking: Asking): Promise<void> {
  const world = await asking.world(test);
  for (const [title, rows] of Object.entries(queryRows)) {
    await test.test(title, async (t) => {
      for (const [query, names] of rows) {
        const answer = await ask(world, query);
        t.equal(
          answer.statusCode === 200 ? namesOf(answer.json()) : `${answer.statusCode} ${answer.body.slice(0, 200)}`,
          names,
          query,
        );
      }
    });
  }
  await test.test('a leading wildcard, where the setting does not allow it', async (t) => {
    const strict = await asking.world(t, { leading_wildcards: false });
    for (const [query, place] of [
      ['*fused', 1],
      ['?efused', 1],
      ['level:3 OR user:*lice', 17],
    ] as const) {
      t.match(
        (await ask(strict, query)).json(),
        { type: 'RequestError', message: new RegExp(`character ${place}\\b.*leading_wildcards`, 's') },
        query,
      );
    }
    for (const [query, names] of [
      ['*', 'abcde'],
      ['user:*', 'abcde'],
      ['refus*', 'ab'],
      ['user:/.*lice/', 'ab'],
    ] as const)
      t.equal(namesOf((await ask(strict, query)).json()), names, query);
  });
}

async function problems(t: Test, asking: Asking): Promise<void> {
  const world = await asking.world(t);
  for (const [query, place] of brokenQueries) {
    const answer = await ask(world, query);
    t.match(
      [answer.statusCode, answer.json()],
      [400, { type: 'RequestError', code: 'SEARCH_QUERY_INVALID', message: place }],
      `${query.slice(0, 60)}: ${answer.body.slice(0, 160)}`,
    );
    const check = await world.ask('POST', '/api/search/validate', { as: 'admin', body: { query } });
    if (query.length < 2_000)
      t.match(
        check.json(),
        { status: 'ERROR', explanations: [{ begin_line: Number, begin_column: Number }] },
        `the check of ${query.slice(0, 60)}`,
      );
  }
  for (const [asked, message] of [
    [
      'limit=10001',
      'limit: More messages are asked for than one answer gives. Got 10001. Allowed: 0 to 10000; more page by page with an offset, or with an export.',
    ],
    ['offset=1000001', /Allowed: 0 to 1000000; further with a shorter time range, or with an export/],
  ] as const) {
    t.match(
      (await world.ask('GET', `/api/search/universal/relative?range=0&${asked}`, { as: 'admin' })).json(),
      { type: 'RequestError', code: 'SEARCH_LIMIT', message },
      `${asked} names what HTTP offers`,
    );
  }
  const long = `level:3 ${' '.repeat(60_000)}`;
  const sent = async (query: string, path: string, other = world): Promise<unknown> =>
    (
      await other.ask('POST', path, {
        as: 'admin',
        body: path.endsWith('suggest')
          ? { field: 'level', query, timerange: { type: 'relative', range: 0 } }
          : { query },
      })
    ).json<unknown>();
  t.match(
    await sent(long, '/api/search/suggest'),
    { suggestions: [{ value: 3, occurrence: 1 }] },
    'as long as the setting allows',
  );
  t.match(await sent(long, '/api/search/validate'), { status: 'OK' });
  for (const path of ['/api/search/suggest', '/api/search/validate'])
    t.match(
      JSON.stringify(await sent(`${long}${long}`, path)),
      /character 65537: The query is larger than the limits. Got 120016 characters|character 65537: The query cannot be run. Got 120016 characters/,
      path,
    );
  const large = await asking.world(t, { max_query_length: 1_000_000 });
  t.match(
    await sent(`${long}${' '.repeat(900_000)}`, '/api/search/suggest', large),
    { suggestions: [{ value: 3 }] },
    'the largest setting',
  );
  t.match(await sent(`${long}${' '.repeat(900_000)}`, '/api/search/validate', large), { status: 'OK' });
}

async function warnings(t: Test, asking: Asking): Promise<void> {
  const world = await asking.world(t);
  const check = async (query: string, as = 'admin'): Promise<unknown> => {
    const { status, explanations } = (await world.ask('POST', '/api/search/validate', { as, body: { query } })).json<{
      status: string;
      explanations: readonly Readonly<Record<string, unknown>>[];
    }>();
    return [
      status,
      ...explanations.map(
        (one) =>
          `${String(one['error_type'])} ${String(one['related_property'])} ${String(one['begin_line'])}:${String(one['begin_column'])}-${String(one['end_line'])}:${String(one['end_column'])}`,
      ),
    ].join('; ');
  };
  for (const query of [
    '',
    '*',
    'level:3 AND user:alice',
    'level:"3"',
    'level:[1 TO *]',
    'level:>=3',
    'level:*',
    '_exists_:level',
    'container_name:pay pod:x',
    'message:abc refused',
    'streams:all-messages',
    'ok:true',
    'user:al*',
    'facility:x',
    '_id:x',
    'full_message:/x/',
    'timestamp:>now-1d',
    'code:200',
    '"odd:name":x',
  ])
    t.equal(await check(query), 'OK', query);
  for (const [query, want] of [
    ['nofield:x', 'UNKNOWN_FIELD nofield 1:0-1:7'],
    ['level:3 AND\nNOT nofield:(a b)', 'UNKNOWN_FIELD nofield 2:13-2:14'],
    ['nofield:a nofield:b other:[1 TO 2]', 'UNKNOWN_FIELD nofield 1:0-1:7; UNKNOWN_FIELD other 1:20-1:25'],
    ['_exists_:nofield', 'UNKNOWN_FIELD nofield 1:0-1:16'],
    ['hostname:x', 'UNKNOWN_FIELD hostname 1:0-1:8'],
    ['level:abc', 'INVALID_VALUE_TYPE level 1:6-1:9'],
    ['user:x level:"a b"', 'INVALID_VALUE_TYPE level 1:13-1:18'],
    ['level:(3 OR abc)', 'INVALID_VALUE_TYPE level 1:12-1:15'],
    ['level:[a TO b]', 'INVALID_VALUE_TYPE level 1:6-1:14'],
    ['level:>=x', 'INVALID_VALUE_TYPE level 1:6-1:9'],
    ['level:3*', 'INVALID_VALUE_TYPE level 1:6-1:8'],
    ['ok:yes', 'INVALID_VALUE_TYPE ok 1:3-1:6'],
    ['level:abc nofield:x', 'INVALID_VALUE_TYPE level 1:6-1:9; UNKNOWN_FIELD nofield 1:10-1:17'],
  ] as const)
    t.equal(await check(query), `WARNING; ${want}`, query);
  t.match((await world.ask('POST', '/api/search/validate', { as: 'admin', body: { query: 'level:abc' } })).json(), {
    explanations: [
      {
        error_title: 'Invalid value type',
        error_message:
          'level: The field holds numbers, which this value never matches. Allowed: a number, or a range with numbers.',
      },
    ],
  });
  t.equal(await check('nofield:x', 'reader'), 'OK', 'who reads nothing is told nothing of fields');
  const { store } = slow(asking.store);
  const openNames = () => Promise.reject(storeErrors.create('STORE_UNAVAILABLE'));
  const busy = await asking.world(t, {}, { ...store, indices: { ...store.indices, openNames } });
  t.match(
    (await busy.ask('POST', '/api/search/validate', { as: 'admin', body: { query: 'nofield:x' } })).json(),
    { status: 'OK' },
    'a store that is away',
  );
}

async function suggestions(t: Test, asking: Asking): Promise<void> {
  const world = await asking.world(t);
  const suggest = async (body: object): Promise<unknown> =>
    (
      await world.ask('POST', '/api/search/suggest', {
        as: 'admin',
        body: { timerange: { type: 'relative', range: 0 }, ...body },
      })
    )
      .json<{ suggestions?: { value: unknown; occurrence: number }[] }>()
      .suggestions?.map(({ value, occurrence }) => [value, occurrence]);
  t.same(await suggest({ field: 'user', input: 'a' }), [
    ['a*b', 1],
    ['alice', 1],
  ]);
  t.same(await suggest({ field: 'user', input: 'a*' }), [['a*b', 1]], 'a star is a star');
  t.same(await suggest({ field: 'user', input: 'c\\' }), [['c\\d', 1]]);
  t.same(await suggest({ field: 'source', input: 'HO' }), [['host-1', 5]]);
  t.same(await suggest({ field: 'level', input: '' }), [
    [6, 2],
    [3, 1],
    [4, 1],
    [7, 1],
  ]);
  t.same(await suggest({ field: 'level', input: '6', query: 'user:bob*' }), [[6, 1]]);
  t.same(await suggest({ field: 'level', size: 2 }), [
    [6, 2],
    [3, 1],
  ]);
  t.same(await suggest({ field: 'nowhere', input: 'x' }), []);
  t.equal(await suggest({ field: 'message', input: 'x' }), undefined);
  t.same(
    (
      await world.ask('POST', '/api/search/suggest', {
        as: 'reader',
        body: { field: 'user', timerange: { type: 'relative', range: 0 } },
      })
    ).json(),
    { field: 'user', input: '', suggestions: [], sum_other_docs_count: 0, error: null },
  );
}

/** A store whose searches wait until they are let go, or are cancelled. */
function slow(store: SearchableStore): {
  readonly store: SearchableStore;
  readonly state: { searching: number; cancelled: number };
} {
  const state = { searching: 0, cancelled: 0 };
  return {
    state,
    store: {
      indices: {
        openNames: (sets) => store.indices.openNames(sets),
        fieldTypes: (index) => store.indices.fieldTypes(index),
      },
      documents: store.documents,
      queries: {
        aggregate: (request) => store.queries.aggregate(request),
        scan: (request) => store.queries.scan(request),
        occurringFields: (request) => store.queries.occurringFields(request),
        async search(request) {
          if (!JSON.stringify(request.query).includes('alice')) return store.queries.search(request);
          state.searching += 1;
          await new Promise((resolve) => request.signal?.addEventListener('abort', resolve, { once: true }));
          state.cancelled += 1;
          throw request.signal?.reason;
        },
      },
    },
  };
}

async function ends(test: Test, asking: Asking, store: IndexStore): Promise<void> {
  await test.test('a search whose client has left gives its turn to the next', async (t) => {
    const slowed = slow(store);
    const world = await asking.world(t, {}, slowed.store);
    await world.start();
    const { port } = world.address();
    const leaving = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/api/search/universal/relative?range=0&query=user:alice',
      headers: { authorization: basic('admin') },
    });
    leaving.on('error', () => undefined).end();
    await until(
      async () => (slowed.state.searching === 1 ? true : undefined),
      60_000,
      () => 'the search does not begin',
    );
    const next = ask(world, 'level:7');
    leaving.destroy();
    t.equal(namesOf((await next).json()), 'e', 'the only turn was free again');
    t.equal(slowed.state.cancelled, 1);
  });
  await test.test('a search past its deadline is 504', async (t) => {
    const slowed = slow(store);
    const world = await asking.world(t, { deadline_ms: 50 }, slowed.store);
    t.match(
      [await ask(world, 'user:alice')].map((answer) => [answer.statusCode, answer.json<object>()]),
      [[504, { type: 'ApiError', code: 'SEARCH_DEADLINE_EXCEEDED' }]],
    );
    t.equal(slowed.state.cancelled, 1);
  });
}

async function parts(test: Test, asking: Asking, store: IndexStore): Promise<void> {
  await test.test('an index that is closed while it is searched is named, and the others answer', async (t) => {
    const slowed = slow(store).store;
    const openNames = async (sets: readonly string[]): Promise<readonly string[]> => {
      const open = await store.indices.openNames(sets);
      await store.indices.close(`${asking.set}_0`);
      return open;
    };
    const closing: SearchableStore = { ...slowed, indices: { ...slowed.indices, openNames } };
    const world = await asking.world(t, {}, closing);
    const answer = (await ask(world, '*')).json<Answer>();
    t.match(answer, { total_results: 2, partial: true, failures: [{ index: `${asking.set}_0`, reason: /./ }] });
    t.equal(namesOf(answer), 'de');
    const whole = (await ask(await asking.world(t), '*')).json<Answer>();
    t.same([whole.total_results, whole.partial], [2, undefined], 'what is closed before is not searched');
    await store.indices.open(`${asking.set}_0`);
    await until(
      async () => ((await ask(await asking.world(t), '*')).json<Answer>().total_results === 5 ? true : undefined),
      60_000,
      () => 'the index is not searched again',
    );
  });
}
