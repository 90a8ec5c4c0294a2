/** What every index store does, whatever engine is below. Each adapter's test runs this suite with its own harness. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { isSluiceError } from '../../../../core/errors.js';
import type { QueryNode, SearchRequest } from '../../../../schemas/query.js';
import type { IndexOptions, IndexStore, WriteRequest } from '../../../../sinks/stores/contract.js';
import { aggregations } from './aggregate.js';
import { byId } from './by-id.js';
import { scans } from './scan.js';
import { searchCases, searchDocuments } from './search-cases.js';

interface StoreHarness {
  readonly name: string;
  /** A started store; the harness stops it and removes its data at teardown. */
  open(test: Test): Promise<IndexStore>;
  /** Stops the store and starts another one on the same data; absent where that says nothing. */
  reopen?(test: Test, store: IndexStore): Promise<IndexStore>;
  /**
   * The adapter takes documents as they come, without fitting before: conflicting types, 1,200 fields, values over
   * 32,766 bytes.
   */
  readonly storesUnfitted: boolean;
}

export type StoredDocument = Readonly<Record<string, unknown>>;

export function indexOptions(alias: string): IndexOptions {
  return { alias, shards: 1, replicas: 0, refreshIntervalMs: 1000 };
}

export function newPrefix(): string {
  return `suite-${randomBytes(5).toString('hex')}`;
}

export function idOf(offset: number): string {
  return `0000000000000001-0001-${offset.toString(16).padStart(12, '0')}`;
}

/** A batch with offsets from `first` on. */
export function batchOf(index: string, documents: readonly StoredDocument[], first = 0, partition = 0): WriteRequest {
  const offsets = documents.map((_, at) => first + at);
  return {
    index,
    topic: 'logs',
    topicGeneration: 1,
    partition,
    nextOffset: first + documents.length,
    ids: offsets.map((offset) => `${idOf(offset)}-${partition}`),
    offsets,
    documents: documents.map((document) => JSON.stringify(document)),
  };
}

function sampleDocument(at: number): StoredDocument {
  const time = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
  return {
    timestamp: time,
    receive_time: time,
    source: `host-${at % 3}`,
    message: `Message number ${at} of the suite`,
    level: at % 8,
    streams: ['000000000000000000000001'],
    application: `app-${at % 5}`,
    duration: at / 4,
    ok: at % 2 === 0,
  };
}

export function samples(count: number, first = 0): StoredDocument[] {
  return Array.from({ length: count }, (_, at) => sampleDocument(first + at));
}

export async function createFilled(store: IndexStore, documents: readonly StoredDocument[]): Promise<string> {
  const prefix = newPrefix();
  const index = `${prefix}_0`;
  await store.indices.create(index, indexOptions(prefix));
  const result = await store.documents.write(batchOf(index, documents));
  if (result.failures.length > 0) throw new Error(`refused: ${JSON.stringify(result.failures.slice(0, 3))}`);
  await store.indices.refresh([index]);
  return index;
}

const all: QueryNode = { kind: 'all' };

function find(store: IndexStore, index: string, more: Partial<SearchRequest> = {}) {
  return store.queries.search({ indices: [index], query: all, limit: 100, ...more });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'no error';
  } catch (thrown) {
    return isSluiceError(thrown) ? thrown.code : `untyped: ${String(thrown)}`;
  }
}

async function idsOf(store: IndexStore, indices: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  await store.indices.refresh(indices);
  await store.queries.scanIds(indices, (ids) => {
    seen.push(...ids);
  });
  return seen.sort();
}

export function storeContract(harness: StoreHarness): void {
  t.test(`${harness.name}: an index store`, async (suite) => {
    const store = await harness.open(suite);
    await suite.test('writes', (test) => writes(test, store));
    await suite.test('returns documents unchanged', (test) => documents(test, store, harness));
    await suite.test('searches by the matching rules', (test) => searches(test, store));
    await suite.test('sorts, pages and limits', (test) => paging(test, store));
    await suite.test('reads everything in order', (test) => scans(test, store));
    await suite.test('groups and measures', (test) => aggregations(test, store));
    await suite.test('reads, replaces and replays by id', (test) => byId(test, store));
    await suite.test('lists, closes, opens and deletes', (test) => lifecycle(test, store));
    if (harness.reopen !== undefined)
      await suite.test('keeps everything over a restart', (test) => restart(test, harness));
  });
}

async function writes(test: Test, store: IndexStore): Promise<void> {
  await test.test('a document written again is counted as already stored and is there once', async (t) => {
    const index = await createFilled(store, samples(50));
    t.match(await store.documents.write(batchOf(index, samples(50))), { stored: 0, alreadyStored: 50, failures: [] });
    t.match(await store.documents.write(batchOf(index, samples(40, 30), 30)), {
      stored: 20,
      alreadyStored: 20,
      failures: [],
    });
    t.same(
      await idsOf(store, [index]),
      Array.from({ length: 70 }, (_, at) => `${idOf(at)}-0`),
    );
  });
  await test.test('partitions are told apart', async (t) => {
    const index = await createFilled(store, samples(5));
    t.match(await store.documents.write(batchOf(index, samples(5), 0, 1)), { stored: 5, alreadyStored: 0 });
    if (store.capabilities().deduplicates === 'offset') {
      t.same(
        await store.documents.markers(index, 'logs', 1),
        new Map([
          [0, 5],
          [1, 5],
        ]),
      );
      t.same(await store.documents.markers(index, 'logs', 2), new Map(), 'another generation of the topic begins anew');
    }
    t.equal((await idsOf(store, [index])).length, 10);
  });
  await test.test('many writes at once are all answered for themselves', async (t) => {
    const index = await createFilled(store, []);
    const results = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((partition) =>
        store.documents.write(batchOf(index, samples(30 + partition), 0, partition)),
      ),
    );
    t.same(
      results.map((result) => result.stored),
      [30, 31, 32, 33, 34, 35],
    );
    t.equal((await idsOf(store, [index])).length, 195);
  });
  await test.test('what is no JSON object is refused by its position, the others are stored', async (t) => {
    const index = await createFilled(store, []);
    const batch = batchOf(index, samples(3));
    const result = await store.documents.write({
      ...batch,
      documents: [batch.documents[0] as string, '{"broken', batch.documents[2] as string],
    });
    t.equal(result.stored, 2);
    t.match(result.failures, [{ position: 1, kind: 'refused', code: /^STORE_/ }]);
  });
  await test.test('a missing index is not created by a write', async (t) => {
    const index = `${newPrefix()}_0`;
    t.equal(await codeOf(store.documents.write(batchOf(index, samples(1)))), 'STORE_INDEX_MISSING');
    t.same((await store.queries.search({ indices: [index], query: all, limit: 1 })).skipped, [index]);
  });
}

/** Documents that an adapter may find hard; all of different fields or of one type each. */
const hardDocuments: readonly (readonly [string, StoredDocument])[] = [
  [
    'odd names',
    {
      message: 'odd',
      'a.b.c': 'dots',
      'a-b': 'hyphen',
      'quote"d': 'quote',
      "it's": 'apostrophe',
      'with space': 'space',
      ключ: 'cyrillic',
      '😀': 'emoji',
      'slash/tilde~': 'pointer',
      Case: 'upper',
      case: 'lower',
    },
  ],
  [
    'types',
    {
      message: 'types',
      text: '42',
      number_value: 42,
      big: 9007199254740991,
      fraction: 0.1,
      negative: -1.5e-7,
      yes: true,
      no: false,
      empty: '',
    },
  ],
  ['lists', { message: 'lists', streams: ['a', 'b","c', ','], adjustments: [] }],
  ['a missing message', { source: 'only-source' }],
  [
    'the year 2999',
    { message: 'future', timestamp: '2999-12-31T23:59:59.999Z', receive_time: '2026-01-01T00:00:00.000Z' },
  ],
  ['control characters', { message: 'a\u0000b\u0001c\n\r\t\u2028', 'zero\u0000name': 'x' }],
  ['other scripts', { message: 'Привет, мир! 你好 İstanbul ΣΑΣ', source: 'Хост' }],
];

async function documents(test: Test, store: IndexStore, harness: StoreHarness): Promise<void> {
  for (const [name, document] of hardDocuments) {
    if (!harness.storesUnfitted && name === 'control characters') continue;
    await test.test(name, async (t) => {
      const index = await createFilled(store, [document]);
      t.same(
        (await find(store, index)).hits.map((hit) => hit.document),
        [document],
      );
    });
  }
  if (!harness.storesUnfitted) return;
  await test.test('values of different types under one name, in one batch and over several', async (t) => {
    const values = ['text', 1, true, '1', ['x'], { deep: [1, { er: null }] }, null, 'text', -0.5, [], [1, 'a']];
    const mixed = Array.from({ length: 200 }, (_, at) => ({
      message: `m${at}`,
      mixed: values[at % values.length],
      message_two: at,
    }));
    await allReturned(t, store, mixed, 40);
    await allReturned(
      t,
      store,
      [
        ...samples(60).map((one) => ({ ...one, level: 'error', timestamp: 'yesterday', source: 7, message: false })),
        ...samples(60),
      ],
      60,
    );
  });
  await test.test('1,200 fields, and one of 100,000 bytes', async (t) => {
    const wide = Object.fromEntries(
      Array.from({ length: 1200 }, (_, at) => [`field_${at}`, at % 2 === 0 ? `value ${at}` : at]),
    );
    await allReturned(
      t,
      store,
      [
        { message: 'wide', ...wide },
        { message: 'long', long: 'x'.repeat(100_000) },
        ...samples(30).map((one) => ({ ...one, ...wide })),
      ],
      16,
    );
  });
  await test.test('text that is not well-formed Unicode', async (t) => {
    await allReturned(
      t,
      store,
      [
        { message: 'broken \ud800 pair', 'na\udc00me': 'x', fine: 'y', list: ['\ud900'] },
        { message: 'paired \ud83d\ude00' },
      ],
      2,
    );
  });
  await test.test('names that mean something to JavaScript or SQL', async (t) => {
    const strange = JSON.parse(
      '{"__proto__":"p","constructor":1,"toString":"s","c0":"column","rowid":"row","other_fields":"o","overrides":"v","":"empty name"}',
    ) as StoredDocument;
    await allReturned(t, store, [strange, ...Array.from({ length: 60 }, () => strange)], 10);
  });
}

/** Writes in batches of that size and compares what a search returns, key by key. */
async function allReturned(
  t: Test,
  store: IndexStore,
  documents: readonly StoredDocument[],
  batch: number,
): Promise<void> {
  const prefix = newPrefix();
  await store.indices.create(`${prefix}_0`, indexOptions(prefix));
  for (let first = 0; first < documents.length; first += batch) {
    await store.documents.write(batchOf(`${prefix}_0`, documents.slice(first, first + batch), first));
  }
  const { hits, total } = await find(store, `${prefix}_0`, {
    limit: documents.length + 1,
    sort: { field: '_id', direction: 'asc' },
  });
  t.equal(total, documents.length);
  t.strictSame(
    hits.map((hit) => sortedJson(hit.document)),
    documents.map((document) => sortedJson(document)),
  );
}

function sortedJson(document: StoredDocument): string {
  return JSON.stringify(Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function searches(test: Test, store: IndexStore): Promise<void> {
  const index = await createFilled(store, searchDocuments);
  const names = new Map(searchDocuments.map((document, at) => [`${idOf(at)}-0`, document['name'] as string]));
  for (const [title, query, expected] of searchCases) {
    await test.test(title, async (t) => {
      const { hits, total } = await find(store, index, { query });
      t.same(hits.map((hit) => names.get(hit._id)).sort(), [...expected].sort());
      t.equal(total, expected.length);
    });
  }
}

async function paging(test: Test, store: IndexStore): Promise<void> {
  const index = await createFilled(store, samples(40));
  const numbers = (hits: readonly { readonly document: StoredDocument }[]) =>
    hits.map((hit) => Number(hit.document['duration']) * 4);
  await test.test('newest first by default, no more than the limit, and the total of all', async (t) => {
    const { hits, total } = await find(store, index, { limit: 3 });
    t.same(numbers(hits), [39, 38, 37]);
    t.equal(total, 40);
    t.same((await find(store, index, { limit: 0 })).hits, []);
  });
  await test.test('not counted, the same ones are found', async (t) => {
    for (const query of [
      all,
      { kind: 'term', field: 'message', text: 'message' },
      { kind: 'exists', field: 'level' },
    ] as const) {
      for (const sort of [
        { field: 'timestamp', direction: 'desc' },
        { field: 'level', direction: 'asc' },
      ] as const) {
        const counted = await find(store, index, { query, limit: 3, sort });
        const { hits, total, next } = await find(store, index, { query, limit: 3, sort, count: false });
        t.same([hits, next, total], [counted.hits, counted.next, counted.hits.length], JSON.stringify([query, sort]));
      }
    }
  });
  await test.test('the range of time is half open', async (t) => {
    const start = Date.UTC(2026, 0, 1);
    const { hits, total } = await find(store, index, { from: start + 5000, to: start + 8000 });
    t.same(numbers(hits), [7, 6, 5]);
    t.equal(total, 3);
  });
  await test.test('pages follow each other without gap or repetition, in both directions', async (t) => {
    for (const [field, direction] of [
      ['timestamp', 'desc'],
      ['timestamp', 'asc'],
      ['level', 'asc'],
      ['application', 'desc'],
    ] as const) {
      const seen: number[] = [];
      let after: SearchRequest['after'];
      for (let page = 0; page < 10; page += 1) {
        const { hits } = await find(store, index, { limit: 7, sort: { field, direction }, after });
        const last = hits.at(-1);
        if (last === undefined) break;
        seen.push(...numbers(hits));
        after = { sortValue: last.document[field] as string | number, id: last._id };
      }
      t.equal(new Set(seen).size, 40, `${field} ${direction}`);
      t.equal(seen.length, 40, `${field} ${direction}`);
    }
  });
  await test.test('only the fields asked for', async (t) => {
    const { hits } = await find(store, index, { limit: 1, fields: ['source', 'duration', 'nowhere'] });
    t.same(hits[0]?.document, { source: 'host-0', duration: 9.75 });
    t.equal(hits[0]?._index, index);
  });
  await test.test('several indices are one', async (t) => {
    const second = await createFilled(store, samples(5, 100));
    const { hits, total } = await store.queries.search({ indices: [index, second], query: all, limit: 7 });
    t.same(numbers(hits), [104, 103, 102, 101, 100, 39, 38]);
    t.equal(total, 45);
  });
  await test.test('a cancelled search ends with its own error', async (t) => {
    t.equal(await codeOf(find(store, index, { signal: AbortSignal.abort() })), 'STORE_SEARCH_CANCELLED');
  });
}

async function lifecycle(test: Test, store: IndexStore): Promise<void> {
  const prefix = newPrefix();
  const names = [2, 10, 1].map((number) => `${prefix}_${number}`);
  for (const name of names) await store.indices.create(name, indexOptions(prefix));
  await test.test('creating again changes nothing', async (t) => {
    await store.documents.write(batchOf(`${prefix}_1`, samples(10)));
    await store.indices.create(`${prefix}_1`, indexOptions(prefix));
    await store.indices.refresh(names);
    const infos = await store.indices.list(prefix);
    t.same(
      infos.map((info) => [info.name, info.open, info.documents]),
      [
        [`${prefix}_1`, true, 10],
        [`${prefix}_2`, true, 0],
        [`${prefix}_10`, true, 0],
      ],
    );
    t.ok(infos.every((info) => info.bytes > 0 && Math.abs(info.createdAt - Date.now()) < 60_000));
    t.same(await store.indices.list(`${prefix}x`), []);
  });
  await test.test('types of fields', async (t) => {
    const types = await store.indices.fieldTypes(`${prefix}_1`);
    t.match(Object.fromEntries(types), {
      message: 'text',
      timestamp: 'time',
      source: 'string',
      level: 'number',
      application: 'string',
      duration: 'number',
      ok: 'boolean',
    });
  });
  await test.test('a closed index takes no writes, is skipped by searches, and comes back as it was', async (t) => {
    await store.indices.close(`${prefix}_1`);
    await store.indices.close(`${prefix}_1`);
    t.equal(await codeOf(store.documents.write(batchOf(`${prefix}_1`, samples(1), 10))), 'STORE_INDEX_CLOSED');
    t.same((await find(store, `${prefix}_1`)).skipped, [`${prefix}_1`]);
    t.equal((await store.indices.list(prefix))[0]?.open, false);
    await store.indices.open(`${prefix}_1`);
    t.equal((await find(store, `${prefix}_1`)).total, 10);
    t.match(await store.documents.write(batchOf(`${prefix}_1`, samples(12))), { stored: 2, alreadyStored: 10 });
  });
  await test.test('a deleted index is gone', async (t) => {
    await store.indices.delete(`${prefix}_1`);
    await store.indices.delete(`${prefix}_1`);
    t.same(
      (await store.indices.list(prefix)).map((info) => info.name),
      [`${prefix}_2`, `${prefix}_10`],
    );
    t.equal(await codeOf(store.documents.write(batchOf(`${prefix}_1`, samples(1), 20))), 'STORE_INDEX_MISSING');
    t.equal(await codeOf(store.indices.close(`${prefix}_1`)), 'STORE_INDEX_MISSING');
  });
  for (const name of names) await store.indices.delete(name);
}

async function restart(test: Test, harness: StoreHarness): Promise<void> {
  const store = await harness.open(test);
  const index = await createFilled(store, samples(100));
  const closed = await createFilled(store, samples(7));
  await store.indices.close(closed);
  const again = await harness.reopen?.(test, store);
  if (again === undefined) return;
  test.equal((await find(again, index)).total, 100);
  test.match(await again.documents.write(batchOf(index, samples(110))), { stored: 10, alreadyStored: 100 });
  test.match(await again.indices.list(closed.slice(0, -2)), [{ open: false, documents: 7 }]);
  await again.indices.open(closed);
  test.equal((await find(again, closed)).total, 7);
}
