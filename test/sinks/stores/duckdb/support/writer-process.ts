/**
 * Writes batches to the index `crash_0` of the store in the folder given until it is killed; says each acknowledged
 * offset on standard output.
 */
import { batchOf, indexOptions, samples } from '../../contract/contract.js';
import { createSmallStore } from './open-store.js';

const [folder = '', batchSize = '200'] = process.argv.slice(2);
const count = Number(batchSize);
const store = createSmallStore(folder, {
  checkpointBytes: 2 ** 20,
  words: { segmentRows: 400, idleMs: 0, everyMs: 1, mostPerSecond: Infinity },
});
await store.start();
await store.indices.create('crash_0', indexOptions('crash'));

async function writeOn(partition: number): Promise<void> {
  let next = (await store.documents.markers('crash_0', 'logs', 1)).get(partition) ?? 0;
  for (;;) {
    const documents = samples(count, next).map((document, at) => ({
      ...document,
      [`field_${(next + at) % 40}`]: 'x'.repeat(50),
    }));
    await store.documents.write(batchOf('crash_0', documents, next, partition));
    next += count;
    process.stdout.write(`${partition} ${next}\n`);
  }
}

await Promise.all([writeOn(0), writeOn(1)]);
