/** Ends itself with code 3 in the middle of a search or a write of the embedded store. */
import { silentLog } from '../../../../../core/log.js';
import { Registry } from '../../../../../core/metrics.js';
import { createDuckStore } from '../../../../../sinks/stores/duckdb/store.js';
import { batchOf, indexOptions, samples } from '../../contract/contract.js';

const [folder = '', work] = process.argv.slice(2);
const store = createDuckStore({
  folder,
  memoryBytes: 256 * 2 ** 20,
  threads: 2,
  checkpointBytes: 2 ** 26,
  reserveBytes: 0,
  log: silentLog,
  registry: new Registry(),
});
await store.start();
await store.indices.create('exit_0', indexOptions('exit'));
await store.documents.write(batchOf('exit_0', samples(5000)));
const running =
  work === 'search'
    ? store.queries.search({
        indices: ['exit_0'],
        query: { kind: 'regex', field: 'message', pattern: '(?:[^z]*e){2,}r?' },
        limit: 1,
      })
    : store.documents.write(batchOf('exit_0', samples(5000, 5000), 5000));
running.catch(() => undefined);
setTimeout(() => process.exit(3), 20);
