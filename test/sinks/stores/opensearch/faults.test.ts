import t, { type Test } from 'tap';
import { createOpenSearchClient } from '../../../../core/opensearch-client.js';
import { silentLog } from '../../../../core/log.js';
import { Registry } from '../../../../core/metrics.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { createOpenSearchStore, type OpenSearchStoreOptions } from '../../../../sinks/stores/opensearch/store.js';
import { openSearchNode, skipWithoutOpenSearch } from '../../../engines.js';
import { startHttpProxy, type HttpProxy } from '../../../faults/causes/http-proxy.js';
import { batchOf, indexOptions, newPrefix, samples } from '../contract/contract.js';
import { slowness } from '../../../deadlines.js';

const node = openSearchNode() ?? '';

async function openBehindProxy(
  test: Test,
  options: Partial<OpenSearchStoreOptions> = {},
): Promise<{ store: IndexStore; proxy: HttpProxy; index: string }> {
  const proxy = await startHttpProxy(node);
  const store = createOpenSearchStore({
    nodes: [proxy.url],
    requestTimeoutMs: 10_000,
    bulkBytes: 5 * 2 ** 20,
    maxFields: 900,
    log: silentLog,
    registry: new Registry(),
    ...options,
  });
  await store.start();
  const prefix = newPrefix();
  const index = `${prefix}_0`;
  await store.indices.create(index, indexOptions(prefix));
  test.teardown(async () => {
    await proxy.heal();
    await store.indices.delete(index);
    await store.stop(1_000);
    await proxy.close();
  });
  return { store, proxy, index };
}

async function send(method: 'PUT' | 'GET' | 'DELETE' | 'POST', path: string, body?: object): Promise<number> {
  const client = createOpenSearchClient({ nodes: [node], requestTimeoutMs: 10_000 });
  const { status } = await client.request({ method, path, body });
  await client.close();
  return status;
}

async function idsIn(store: IndexStore, index: string): Promise<string[]> {
  const ids: string[] = [];
  await store.indices.refresh([index]);
  await store.queries.scanIds([index], (some) => {
    ids.push(...some);
  });
  return ids.sort();
}

await t.test('the OpenSearch store under faults', skipWithoutOpenSearch(), async (suite) => {
  await suite.test('a bulk that was answered with a timeout and is applied later doubles nothing', async (test) => {
    const { store, proxy, index } = await openBehindProxy(test);
    const batch = batchOf(index, samples(100));
    proxy.inject({ fault: { kind: 'late', afterMs: 300 }, times: 1 });
    await test.rejects(store.documents.write(batch), { code: 'STORE_UNAVAILABLE', retryable: true });
    const resent = await store.documents.write(batch);
    const [late] = await proxy.lateAnswers();
    const items = (JSON.parse(String(late?.body)) as { items: readonly { create: { status: number } }[] }).items.map(
      ({ create }) => create.status,
    );
    test.same(resent.failures, []);
    test.equal(resent.stored + resent.alreadyStored, 100);
    test.equal(
      items.filter((status) => status === 409).length,
      resent.stored,
      'whichever comes second meets the first',
    );
    test.equal(items.filter((status) => status === 201).length, resent.alreadyStored);
    test.same(await idsIn(store, index), [...batch.ids].sort());
  });

  await suite.test(
    'a bulk of which the answer was cut is answered as already stored when it is sent again',
    async (test) => {
      const { store, proxy, index } = await openBehindProxy(test);
      const batch = batchOf(index, samples(100));
      proxy.inject({ fault: { kind: 'cut' }, times: 1 });
      await test.rejects(store.documents.write(batch), { code: 'STORE_UNAVAILABLE', retryable: true });
      test.match(await store.documents.write(batch), { stored: 0, alreadyStored: 100, failures: [] });
      await store.documents.sync(index);
      test.equal((await idsIn(store, index)).length, 100);
    },
  );

  await suite.test('a late bulk cannot bring a deleted index back', async (test) => {
    const { store, proxy, index } = await openBehindProxy(test);
    proxy.inject({ fault: { kind: 'late', afterMs: 300 }, times: 1 });
    await test.rejects(store.documents.write(batchOf(index, samples(10))), { code: 'STORE_UNAVAILABLE' });
    await store.indices.delete(index);
    const [late] = await proxy.lateAnswers();
    test.match(JSON.parse(String(late?.body)), { items: [{ create: { status: 404 } }] });
    test.equal(await send('GET', `/${index}`), 404);
  });

  await suite.test('an engine that never answers costs the timeout, and no longer', async (test) => {
    const { store, proxy, index } = await openBehindProxy(test, { requestTimeoutMs: 500 });
    proxy.inject({ fault: { kind: 'late', afterMs: 0, silent: true }, times: 1 });
    const start = Date.now();
    await test.rejects(store.documents.write(batchOf(index, samples(10))), {
      code: 'STORE_UNAVAILABLE',
      retryable: true,
    });
    test.ok(Date.now() - start < 3_000 * slowness);
  });

  await suite.test('429 for some documents leaves those to be written again', async (test) => {
    const { store, proxy, index } = await openBehindProxy(test);
    const batch = batchOf(index, samples(9));
    proxy.inject({ fault: { kind: 'item_429', every: 3 }, times: 1 });
    const result = await store.documents.write(batch);
    test.equal(result.stored, 6);
    test.match(
      result.failures,
      [2, 5, 8].map((position) => ({ position, kind: 'retry', code: 'STORE_OVERLOADED' })),
    );
    test.match(await store.documents.write(batch), { stored: 3, alreadyStored: 6, failures: [] });
  });

  await suite.test('429 for a whole bulk and a refused connection are retryable errors', async (test) => {
    const { store, proxy, index } = await openBehindProxy(test);
    proxy.inject({ fault: { kind: 'status', status: 429 }, times: 1 });
    await test.rejects(store.documents.write(batchOf(index, samples(3))), {
      code: 'STORE_OVERLOADED',
      retryable: true,
    });
    proxy.inject({ fault: { kind: 'status', status: 503 }, times: 1 });
    await test.rejects(store.documents.write(batchOf(index, samples(3))), {
      code: 'STORE_UNAVAILABLE',
      retryable: true,
    });
    await proxy.refuse();
    await test.rejects(store.documents.write(batchOf(index, samples(3))), {
      code: 'STORE_UNAVAILABLE',
      retryable: true,
    });
    test.match(await store.health(), { ok: false, reason: /STORE_UNAVAILABLE|does not answer/ });
    await proxy.heal();
    test.match(await store.documents.write(batchOf(index, samples(3))), { stored: 3 });
    test.match(await store.health(), { ok: true });
  });

  await suite.test(
    '413 halves the bulk until it fits; a single document that is too large is refused',
    async (test) => {
      const { store, proxy, index } = await openBehindProxy(test);
      proxy.inject({ fault: { kind: 'status', status: 413 }, times: 2 });
      test.match(await store.documents.write(batchOf(index, samples(8))), { stored: 8, failures: [] });
      proxy.inject({ fault: { kind: 'status', status: 413 }, times: 1 });
      test.match(await store.documents.write(batchOf(index, samples(1), 8)), {
        stored: 0,
        failures: [{ position: 0, kind: 'refused', code: 'STORE_DOCUMENT_REFUSED' }],
      });
    },
  );

  await suite.test('a write block and the flood stage concern this index only', async (test) => {
    const { store, index } = await openBehindProxy(test);
    for (const block of ['index.blocks.read_only_allow_delete', 'index.blocks.write', 'index.blocks.read_only']) {
      await send('PUT', `/${index}/_settings`, { [block]: true });
      await test.rejects(
        store.documents.write(batchOf(index, samples(2))),
        { code: 'STORE_INDEX_BLOCKED', retryable: true, place: index },
        block,
      );
      await send('PUT', `/${index}/_settings`, { [block]: null });
    }
    test.match(await store.documents.write(batchOf(index, samples(2))), { stored: 2 });
  });

  await suite.test('a large request is cut into bulks of about the size that was set', async (test) => {
    const { store, proxy, index } = await openBehindProxy(test, { bulkBytes: 20_000 });
    const before = proxy.bulks;
    test.match(await store.documents.write(batchOf(index, samples(200))), { stored: 200, failures: [] });
    test.ok(proxy.bulks - before >= 3);
  });

  await suite.test('a tombstone keeps a late copy of its message out, and is seen by nobody else', async (test) => {
    const { store, index } = await openBehindProxy(test);
    const batch = batchOf(index, samples(2));
    const [id = ''] = batch.ids;
    for (let time = 0; time < 2; time += 1) test.same(await store.documents.writeTombstones(index, [{ id }]), [true]);
    test.match(await store.documents.write(batch), { stored: 1, alreadyStored: 1, alreadyStoredAt: [0] });
    const found = await store.documents.read(index, [...batch.ids, 'unknown']);
    test.same(
      [...found].filter(([, { tombstone }]) => tombstone).map(([tombstoneId]) => tombstoneId),
      [id],
    );
    await test.rejects(store.documents.read(`${index}9`, [id]), { code: 'STORE_INDEX_MISSING' });
    test.same(await idsIn(store, index), [batch.ids[1]]);
    test.equal(
      (
        await store.queries.search({
          indices: [index],
          query: { kind: 'not', child: { kind: 'exists', field: 'message' } },
          limit: 10,
        })
      ).total,
      0,
    );
    test.match(await store.indices.list(index.slice(0, -2)), [{ documents: 1 }]);
    test.notOk((await store.indices.fieldTypes(index)).has('_stub'));
  });

  await suite.test('an index whose aliases were lost gets them again when it is created again', async (test) => {
    const { store, index } = await openBehindProxy(test);
    await send('POST', '/_aliases', { actions: [{ remove: { index, alias: '*' } }] });
    await test.rejects(store.documents.write(batchOf(index, samples(1))), { code: 'STORE_INDEX_MISSING' });
    await store.indices.create(index, indexOptions(index.slice(0, -2)));
    test.match(await store.documents.write(batchOf(index, samples(1))), { stored: 1 });
  });
});
