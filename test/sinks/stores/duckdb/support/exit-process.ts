/** Ends itself with code 3 in the middle of a search or a write of the embedded store. */
import { batchOf, indexOptions, samples } from '../../contract/contract.js';
import { createSmallStore } from './open-store.js';

const [folder = '', work] = process.argv.slice(2);
const store = createSmallStore(folder, { checkpointBytes: 2 ** 26 });
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
