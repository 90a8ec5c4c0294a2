import type { Test } from 'tap';
import { silentLog } from '../../../../core/log.js';
import { Registry } from '../../../../core/metrics.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { createOpenSearchStore, type OpenSearchStoreOptions } from '../../../../sinks/stores/opensearch/store.js';
import { openSearchNode } from '../../../engines.js';

/** A started store that deletes at teardown the indices it has created. */
export async function openStore(test: Test, options: Partial<OpenSearchStoreOptions> = {}): Promise<IndexStore> {
  const store = createOpenSearchStore({
    nodes: [openSearchNode() ?? ''],
    requestTimeoutMs: 60_000,
    bulkBytes: 5 * 2 ** 20,
    maxFields: 900,
    log: silentLog,
    registry: new Registry(),
    ...options,
  });
  const created = new Set<string>();
  const createIndex = store.indices.create.bind(store.indices);
  store.indices.create = async (name, indexOptions) => {
    created.add(name);
    await createIndex(name, indexOptions);
  };
  test.teardown(async () => {
    for (const name of created) await store.indices.delete(name);
    await store.stop(1_000);
  });
  await store.start();
  return store;
}
