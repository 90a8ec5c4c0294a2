import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { storeContract } from '../contract/contract.js';
import { openStoreIn } from './support/open-store.js';

const folders = new WeakMap<IndexStore, string>();

async function openIn(test: Test, folder: string): Promise<IndexStore> {
  const store = await openStoreIn(test, folder, { memoryBytes: 512 * 2 ** 20 });
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
