/** Reading everything in order: pages by any field, scans of one snapshot, which fields occur. */
import type { Test } from 'tap';
import type { QueryNode, SearchAfter, SearchHit, SearchRequest } from '../../../../schemas/query.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { batchOf, createFilled, indexOptions, newPrefix, samples, type StoredDocument } from './contract.js';

const all: QueryNode = { kind: 'all' };
type Sort = NonNullable<SearchRequest['sort']>;

/** Half of them without `rank`, ties everywhere, and the same ids in both indices. */
function tied(count: number, name: string): StoredDocument[] {
  return Array.from({ length: count }, (_, at) => {
    const time = new Date(Date.UTC(2026, 0, 1) + (at % 7) * 1000).toISOString();
    return {
      timestamp: time,
      receive_time: time,
      message: `${name} ${at}`,
      source: at % 2 === 0 ? 'B' : 'a',
      ...(at % 2 === 0 ? { rank: at % 5 } : {}),
      ...(at % 3 === 0 ? { word: `w${at % 4}` } : {}),
      flag: at % 2 === 0,
    };
  });
}

const orders: readonly Sort[] = ['timestamp', 'rank', 'word', 'flag', 'source', '_id', 'nowhere'].flatMap((field) => [
  { field, direction: 'asc' as const },
  { field, direction: 'desc' as const },
]);

export async function scans(test: Test, store: IndexStore): Promise<void> {
  const indices = [await createFilled(store, tied(60, 'first')), await createFilled(store, tied(45, 'second'))];
  const orderOf = new Map<Sort, string[]>();
  await test.test(
    'pages over ties, missing values and equal ids in two indices have no gaps and no doubles',
    async (t) => {
      for (const sort of orders) {
        const seen: string[] = [];
        let after: SearchAfter | undefined;
        for (let page = 0; page < 30; page += 1) {
          const { hits, next, total } = await store.queries.search({ indices, query: all, limit: 13, sort, after });
          if (total !== 105) t.fail(`the total of page ${page} is ${total}`);
          seen.push(...hits.map(nameOf));
          after = next;
          if (hits.length < 13) break;
        }
        t.equal(new Set(seen).size, 105, `${sort.field} ${sort.direction}`);
        t.equal(seen.length, 105, `${sort.field} ${sort.direction}`);
        const whole = await store.queries.search({ indices, query: all, limit: 200, sort });
        t.same(seen, whole.hits.map(nameOf), `${sort.field} ${sort.direction} in the order of one answer`);
        orderOf.set(sort, seen);
      }
    },
  );
  await test.test('a scan gives every document in the same order', async (t) => {
    for (const sort of orders)
      t.same(
        (await readAll(store, indices, { sort })).map(nameOf),
        orderOf.get(sort),
        `${sort.field} ${sort.direction}`,
      );
    t.same(
      (await readAll(store, indices, { fields: ['rank'], query: { kind: 'exists', field: 'rank' } }))
        .map(({ document }) => Object.keys(document))
        .flat().length,
      53,
    );
    t.same(await readAll(store, [], {}), []);
  });
  await test.test('a scan leaves out what is written after its first batch', async (t) => {
    const prefix = newPrefix();
    await store.indices.create(`${prefix}_0`, indexOptions(prefix));
    await store.documents.write(batchOf(`${prefix}_0`, samples(1_500)));
    await store.indices.refresh([`${prefix}_0`]);
    const seen: SearchHit[] = [];
    for await (const batch of store.queries.scan({
      indices: [`${prefix}_0`],
      query: all,
      sort: { field: 'timestamp', direction: 'asc' },
    })) {
      if (seen.length === 0) {
        await store.documents.write(batchOf(`${prefix}_0`, samples(500, 1_500), 1_500));
        await store.indices.refresh([`${prefix}_0`]);
      }
      seen.push(...batch);
    }
    t.equal(seen.length, 1_500);
    t.equal(seen.at(-1)?.document['message'], 'Message number 1499 of the suite');
    t.equal((await readAll(store, [`${prefix}_0`], {})).length, 2_000);
  });
  await test.test('a scan of an index that is not there, and a cancelled one, end with typed errors', async (t) => {
    await t.rejects(readAll(store, [...indices, 'nowhere_0'], {}), { code: 'STORE_INDEX_MISSING' });
    await t.rejects(readAll(store, indices, { signal: AbortSignal.abort() }), { code: 'STORE_SEARCH_CANCELLED' });
  });
  await test.test('the fields that occur in what a query finds', async (t) => {
    const found = await store.queries.occurringFields({
      indices,
      query: { kind: 'term', field: 'flag', text: 'false' },
    });
    t.ok(['timestamp', 'message', 'word', 'flag'].every((name) => found.has(name)));
    t.notOk(['rank', 'level', 'nowhere'].some((name) => found.has(name)));
  });
  await test.test('open indices by their sets', async (t) => {
    const prefix = newPrefix();
    for (const number of [10, 9, 2]) await store.indices.create(`${prefix}_${number}`, indexOptions(prefix));
    await store.indices.close(`${prefix}_9`);
    t.same(await store.indices.openNames([prefix, `${prefix}x`]), [`${prefix}_2`, `${prefix}_10`]);
    t.same(await store.indices.openNames([]), []);
  });
}

function nameOf(hit: SearchHit): string {
  return String(hit.document['message']);
}

async function readAll(
  store: IndexStore,
  indices: readonly string[],
  more: Partial<SearchRequest>,
): Promise<SearchHit[]> {
  const seen: SearchHit[] = [];
  for await (const batch of store.queries.scan({ indices, query: all, ...more })) seen.push(...batch);
  return seen;
}
