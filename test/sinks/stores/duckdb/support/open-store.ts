import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../../../core/log.js';
import { Registry } from '../../../../../core/metrics.js';
import type { IndexStore } from '../../../../../sinks/stores/contract.js';
import { createDuckStore, type DuckStoreOptions } from '../../../../../sinks/stores/duckdb/store.js';
import { indexOptions, newPrefix } from '../../contract/contract.js';

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

/** A store with little memory, not started. */
export function createSmallStore(folder: string, more: Partial<DuckStoreOptions> = {}): IndexStore {
  return createDuckStore({
    folder,
    memoryBytes: 256 * 2 ** 20,
    threads: 2,
    checkpointBytes: 16 * 2 ** 20,
    reserveBytes: 0,
    log: silentLog,
    registry: new Registry(),
    ...more,
  });
}

/** A started store on an existing folder, which stays at teardown. */
export async function openStoreIn(
  t: Teardown,
  folder: string,
  more: Partial<DuckStoreOptions> = {},
): Promise<IndexStore> {
  const store = createSmallStore(folder, more);
  t.teardown(() => store.stop(5_000));
  await store.start();
  return store;
}

/** A started store whose folder goes at teardown. */
export async function openStore(t: Teardown, more: Partial<DuckStoreOptions> = {}): Promise<IndexStore> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice store '));
  const store = createSmallStore(folder, more);
  t.teardown(async () => {
    await store.stop(5_000);
    rmSync(folder, { recursive: true, force: true });
  });
  await store.start();
  return store;
}

/** An empty index of its own set, as the first of it. */
export async function createIndex(store: IndexStore): Promise<string> {
  const prefix = newPrefix();
  const index = `${prefix}_0`;
  await store.indices.create(index, indexOptions(prefix));
  return index;
}
