import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import { createDuckStore } from '../../sinks/stores/duckdb/store.js';
import { searcherSuite } from './searcher-suite.js';

searcherSuite('embedded', async (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-searcher-'));
  const store = createDuckStore({
    folder,
    memoryBytes: 256 * 2 ** 20,
    threads: 2,
    checkpointBytes: 16 * 2 ** 20,
    reserveBytes: 0,
    log: silentLog,
    registry: new Registry(),
  });
  test.teardown(async () => {
    await store.stop(5_000);
    rmSync(folder, { recursive: true, force: true });
  });
  await store.start();
  return store;
});
