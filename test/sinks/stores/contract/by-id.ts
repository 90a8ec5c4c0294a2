/**
 * What a replay needs of every index store: documents by id, compare-and-set, writes that ids alone decide, tombstones.
 */
import type { Test } from 'tap';
import type { IndexStore, WriteRequest } from '../../../../sinks/stores/contract.js';
import { batchOf, createFilled, idOf, samples, type StoredDocument } from './contract.js';

const id = (at: number): string => `${idOf(at)}-0`;

function replayOf(
  index: string,
  documents: readonly StoredDocument[],
  first = 0,
  tombstones: ReadonlyMap<string, string> = new Map(),
): WriteRequest {
  return { ...batchOf(index, documents, first), topic: 'replay', replay: { tombstones } };
}

async function search(store: IndexStore, index: string): Promise<readonly StoredDocument[]> {
  await store.indices.refresh([index]);
  return (
    await store.queries.search({
      indices: [index],
      query: { kind: 'all' },
      limit: 1_000,
      sort: { field: '_id', direction: 'asc' },
    })
  ).hits.map(({ document }) => document);
}

export async function byId(test: Test, store: IndexStore): Promise<void> {
  await test.test('documents are read by their ids at once, without those that are not there', async (t) => {
    const index = await createFilled(store, []);
    await store.documents.write(batchOf(index, samples(30)));
    const found = await store.documents.read(index, [id(3), id(99), id(29)]);
    t.same([...found.keys()].sort(), [id(3), id(29)]);
    t.same(found.get(id(3))?.document, samples(30)[3]);
    t.equal(found.get(id(3))?.tombstone, false);
    t.same(await store.documents.read(index, []), new Map());
  });
  await test.test('an update replaces the document it was made for, and only that', async (t) => {
    const index = await createFilled(store, samples(30));
    const before = await store.documents.read(index, [id(1), id(2)]);
    const next = {
      ...samples(30)[1],
      message: 'changed',
      level: 7,
      replays: 1,
      note: 'raw a\u0000b\u0001\u2028 text "quoted"',
    };
    const expected = before.get(id(1))?.revision ?? '';
    const [revision, foreign, missing] = await store.documents.update(index, [
      { id: id(1), document: JSON.stringify(next), expected },
      { id: id(2), document: JSON.stringify(next), expected: before.get(id(1))?.revision ?? '' },
      { id: 'nobody', document: '{}', expected },
    ]);
    t.type(revision, 'string');
    t.not(revision, expected);
    t.equal(foreign, undefined);
    t.equal(missing, undefined);
    t.same(
      await store.documents.update(index, [{ id: id(1), document: '{}', expected }]),
      [undefined],
      'the revision of before is none any more',
    );
    const now = await store.documents.read(index, [id(1), id(2)]);
    t.same(now.get(id(1)), { document: next, revision, tombstone: false });
    t.same(now.get(id(2)), before.get(id(2)));
    t.same(
      await search(store, index),
      samples(30).map((document, at) => (at === 1 ? next : document)),
      'searches find it so, and all others',
    );
    t.same(await store.documents.update(index, []), []);
  });
  await test.test('an update may leave fields out, and add them again', async (t) => {
    const index = await createFilled(store, samples(3));
    let revision = (await store.documents.read(index, [id(0)])).get(id(0))?.revision ?? '';
    for (const document of [
      { message: 'only this' },
      { message: 'more', ...samples(1)[0] },
      { message: 'again', application: 'other' },
    ]) {
      [revision = ''] = await store.documents.update(index, [
        { id: id(0), document: JSON.stringify(document), expected: revision },
      ]);
      t.same((await store.documents.read(index, [id(0)])).get(id(0)), { document, revision, tombstone: false });
    }
    t.equal((await search(store, index)).length, 3);
  });
  await test.test('of two updates side by side one wins', async (t) => {
    const index = await createFilled(store, samples(1));
    const expected = (await store.documents.read(index, [id(0)])).get(id(0))?.revision ?? '';
    const results = await Promise.all(
      [1, 2, 3].map((by) =>
        store.documents.update(index, [{ id: id(0), document: JSON.stringify({ message: 'm', by }), expected }]),
      ),
    );
    t.equal(results.flat().filter((revision) => revision !== undefined).length, 1);
  });
  await test.test('a replayed document is written once, whatever its offset says', async (t) => {
    const index = await createFilled(store, samples(50));
    const markers = await store.documents.markers(index, 'logs', 1);
    const result = await store.documents.write(replayOf(index, samples(4, 48), 48));
    t.match(result, { stored: 2, alreadyStored: 2, alreadyStoredAt: [0, 1], failures: [] });
    t.match(await store.documents.write(replayOf(index, samples(4, 48), 48)), {
      stored: 0,
      alreadyStored: 4,
      alreadyStoredAt: [0, 1, 2, 3],
    });
    t.same(await store.documents.markers(index, 'logs', 1), markers, 'markers stay');
    t.same(await store.documents.markers(index, 'replay', 1), new Map());
    t.equal((await search(store, index)).length, 52);
    t.match(
      await store.documents.write(batchOf(index, samples(10, 50), 52)),
      { stored: 10 },
      'later offsets of the topic go on where they were',
    );
  });
  await test.test('replays at once and twice over', async (t) => {
    const index = await createFilled(store, []);
    const results = await Promise.all([1, 2, 3].map(() => store.documents.write(replayOf(index, samples(40)))));
    t.equal(
      results.reduce((sum, { stored }) => sum + stored, 0),
      40,
    );
    t.equal((await search(store, index)).length, 40);
  });
  await test.test('a missing or closed index says so', async (t) => {
    const index = await createFilled(store, samples(1));
    await store.indices.close(index);
    for (const name of [index, 'nowhere_0']) {
      const code = name === index ? 'STORE_INDEX_CLOSED' : 'STORE_INDEX_MISSING';
      await t.rejects(async () => store.documents.read(name, [id(0)]), { code });
      await t.rejects(async () => store.documents.write(replayOf(name, samples(1))), { code });
      await t.rejects(async () => store.documents.update(name, [{ id: id(0), document: '{}', expected: '0/1' }]), {
        code,
      });
    }
    await store.indices.delete(index);
  });
  if (store.capabilities().deduplicates === 'id') await test.test('tombstones', (t) => tombstones(t, store));
}

async function tombstones(test: Test, store: IndexStore): Promise<void> {
  await test.test('a tombstone keeps a late copy out, and gives way to a replay that knows it', async (t) => {
    const index = await createFilled(store, []);
    t.same(await store.documents.writeTombstones(index, [{ id: id(0) }]), [true]);
    t.same(await store.documents.writeTombstones(index, [{ id: id(0) }]), [true], 'once more changes nothing');
    t.match(await store.documents.write(batchOf(index, samples(1))), { stored: 0, alreadyStored: 1 });
    t.match(await store.documents.write(replayOf(index, samples(1))), { stored: 0, alreadyStoredAt: [0] });
    const found = (await store.documents.read(index, [id(0)])).get(id(0));
    t.match(found, { tombstone: true, document: {} });
    t.match(await store.documents.write(replayOf(index, samples(2), 0, new Map([[id(0), found?.revision ?? '']]))), {
      stored: 2,
      alreadyStored: 0,
      failures: [],
    });
    t.match((await store.documents.read(index, [id(0)])).get(id(0)), { tombstone: false, document: samples(1)[0] });
    t.same(await search(store, index), samples(2));
    t.equal((await store.documents.read(index, [id(1)])).get(id(1))?.tombstone, false);
    t.match(
      await store.documents.write(batchOf(index, samples(1))),
      { stored: 0, alreadyStored: 1 },
      'the late copy still meets the id',
    );
  });
  await test.test('a tombstone that was written anew does not give way to who knew it before', async (t) => {
    const index = await createFilled(store, []);
    await store.documents.writeTombstones(index, [{ id: id(0) }]);
    const first = (await store.documents.read(index, [id(0)])).get(id(0))?.revision ?? '';
    t.same(await store.documents.writeTombstones(index, [{ id: id(0), renews: first }]), [true]);
    t.same(
      await store.documents.writeTombstones(index, [{ id: id(0), renews: first }]),
      [true],
      'renewing an older one leaves the newer one',
    );
    t.match(await store.documents.write(replayOf(index, samples(1), 0, new Map([[id(0), first]]))), {
      stored: 0,
      alreadyStoredAt: [0],
    });
    t.match((await store.documents.read(index, [id(0)])).get(id(0)), { tombstone: true });
  });
  await test.test('where the document itself stands no tombstone is written', async (t) => {
    const index = await createFilled(store, samples(1));
    t.same(await store.documents.writeTombstones(index, [{ id: id(0) }]), [false]);
    t.same(await store.documents.writeTombstones(index, [{ id: id(0), renews: '7/1' }]), [false]);
    t.match((await store.documents.read(index, [id(0)])).get(id(0)), { tombstone: false, document: samples(1)[0] });
  });
  await test.test('many tombstones at once, new, older, renewed and none among documents', async (t) => {
    const index = await createFilled(store, samples(2));
    t.same(await store.documents.writeTombstones(index, []), []);
    t.same(await store.documents.writeTombstones(index, [{ id: id(2) }, { id: id(3) }]), [true, true]);
    const revisions = await store.documents.read(index, [id(2), id(3)]);
    const renews = revisions.get(id(3))?.revision ?? '';
    const rest = Array.from({ length: 2_100 }, (_, at) => ({ id: id(at + 4) }));
    t.same(
      await store.documents.writeTombstones(index, [
        { id: id(0) },
        ...rest,
        { id: id(2) },
        { id: id(1), renews: '7/1' },
        { id: id(3), renews },
      ]),
      [false, ...rest.map(() => true), true, false, true],
    );
    const now = await store.documents.read(index, [
      id(0),
      id(1),
      id(2),
      id(3),
      ...rest.map((tombstone) => tombstone.id),
    ]);
    t.same([...now.values()].filter(({ tombstone }) => tombstone).length, 2_102);
    t.equal(now.get(id(2))?.revision, revisions.get(id(2))?.revision, 'what stood there stays as it was');
    t.not(now.get(id(3))?.revision, renews);
    t.match([now.get(id(0)), now.get(id(1))], [{ document: samples(2)[0] }, { document: samples(2)[1] }]);
    t.equal((await search(store, index)).length, 2);
    t.match(
      await store.documents.write(batchOf(index, samples(10))),
      { stored: 0, alreadyStored: 10 },
      'late copies meet them',
    );
  });
  await test.test('tombstones for a missing or closed index are refused as a whole', async (t) => {
    const index = await createFilled(store, []);
    await store.indices.close(index);
    await t.rejects(store.documents.writeTombstones(index, [{ id: id(0) }, { id: id(1) }]), {
      code: 'STORE_INDEX_CLOSED',
    });
    await t.rejects(store.documents.writeTombstones('nowhere_0', [{ id: id(0) }]), { code: 'STORE_INDEX_MISSING' });
    await store.indices.delete(index);
  });
}
