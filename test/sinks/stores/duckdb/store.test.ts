import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { silentLog } from '../../../../core/log.js';
import { Registry } from '../../../../core/metrics.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { createDuckStore } from '../../../../sinks/stores/duckdb/store.js';
import { storeContract } from '../contract/contract.js';

const folders = new WeakMap<IndexStore, string>();

async function openIn(test: Test, folder: string): Promise<IndexStore> {
  const store = createDuckStore({
    folder,
    memoryBytes: 512 * 2 ** 20,
    threads: 2,
    checkpointBytes: 16 * 2 ** 20,
    reserveBytes: 0,
    log: silentLog,
    registry: new Registry(),
  });
  test.teardown(() => store.stop(5000));
  await store.start();
  folders.set(store, folder);
  return store;
}

storeContract({
  name: 'embedded',
  storesUnfitted: true,
  open: async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice store '));
    const store = await openIn(test, folder);
    test.teardown(() => rmSync(folder, { recursive: true, force: true }));
    return store;
  },
  reopen: async (test, store) => {
    await store.stop(5000);
    return openIn(test, folders.get(store) as string);
  },
});
