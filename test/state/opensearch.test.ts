import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createOpenSearchClient } from '../../core/opensearch-client.js';
import { silentLog } from '../../core/log.js';
import { createOpenSearchState } from '../../state/opensearch.js';
import { openSearchNode, skipWithoutOpenSearch } from '../engines.js';
import { testStateStore, type StatePlace } from './contract.js';

const node = openSearchNode() ?? '';

async function createPlace(test: Test): Promise<StatePlace & { readonly index: string }> {
  const index = `sluice-state-test-${randomBytes(5).toString('hex')}`;
  const client = createOpenSearchClient({ nodes: [node], requestTimeoutMs: 10_000 });
  test.teardown(async () => {
    await client.request({ method: 'DELETE', path: `/${index}` });
    await client.close();
  });
  const open = async () => {
    const state = createOpenSearchState({ nodes: [node], requestTimeoutMs: 10_000, index, log: silentLog });
    test.teardown(() => state.stop(1_000));
    await state.start();
    return state;
  };
  return { index, open, openBeside: open };
}

await t.test('state in OpenSearch', skipWithoutOpenSearch(), async (suite) => {
  await testStateStore(suite, { name: 'opensearch', createPlace });

  await suite.test('a put after the index was deleted does not create it again', async (test) => {
    const place = await createPlace(test);
    const state = await place.open();
    await state.put('key', 1, undefined);
    const client = createOpenSearchClient({ nodes: [node], requestTimeoutMs: 10_000 });
    test.teardown(() => client.close());
    await client.request({ method: 'DELETE', path: `/${place.index}` });
    await test.rejects(state.put('key', 2, undefined), { code: 'STATE_UNAVAILABLE', retryable: true });
    test.equal((await client.request({ method: 'GET', path: `/${place.index}` })).status, 404);
  });

  await suite.test('an engine that does not answer is a retryable error', async (test) => {
    const state = createOpenSearchState({
      nodes: ['http://127.0.0.1:1'],
      requestTimeoutMs: 1_000,
      index: 'sluice-state-none',
      log: silentLog,
    });
    await test.rejects(state.start(), { code: 'STATE_UNAVAILABLE', retryable: true });
  });
});
