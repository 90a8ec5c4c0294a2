/**
 * A dead letter that is appended twice (a crash between the append and the commit) is in its index set once, on the
 * embedded store too.
 */
import t from 'tap';
import { buildMetrics, Registry } from '../../../core/metrics.js';
import { createDeadLetterDeduplicator } from '../../../pipeline/dead-letters/deduplicator.js';
import { deadLetterMetrics } from '../../../pipeline/dead-letters/metrics.js';
import { deadLetterSet } from '../../../schemas/index-sets.js';
import type { IndexBatch } from '../../../pipeline/index-batch.js';
import { openStore } from '../../sinks/stores/duckdb/support/open-store.js';

const options = { alias: deadLetterSet, shards: 1, replicas: 0, refreshIntervalMs: 1_000 };

function batchOf(index: string, ids: readonly string[], first: number, code = 'STORE_DOCUMENT_REFUSED'): IndexBatch {
  const places = ids.map((_, at) => at);
  return {
    indexSet: deadLetterSet,
    index,
    ids: [...ids],
    offsets: places.map((at) => first + at),
    documents: ids.map((id) => JSON.stringify({ code, message: id })),
    recordPositions: places,
    oldest: 0,
  };
}

t.test('dead letters that are there already are left out, whichever index has them', async (t) => {
  const store = await openStore(t, { threads: 1 });
  const registry = new Registry();
  const known = createDeadLetterDeduplicator(store, buildMetrics(registry, deadLetterMetrics));
  const [older, newer] = ['sluice_dead_letters_0', 'sluice_dead_letters_1'];
  const deliver = async (batches: readonly IndexBatch[], nextOffset: number): Promise<readonly string[]> => {
    const byIndex = new Map(batches.map((batch) => [batch.index, batch]));
    const places = await known.leaveOut(byIndex);
    for (const batch of byIndex.values())
      await store.documents.write({ ...batch, topic: 'dead-letters', topicGeneration: 1, partition: 0, nextOffset });
    return places;
  };
  await store.indices.create(older, options);
  t.same(
    await deliver([batchOf(older, ['a@set', 'run-ffff-1', 'b@set', 'a@set'], 0)], 4),
    [],
    'twice in one batch is once',
  );
  await store.indices.create(newer, options);
  t.same(
    await deliver([batchOf(newer, ['b@set', 'c@set', 'run-ffff-2'], 4, 'OTHER_CODE')], 7),
    [older],
    'the index that has it is to be synced before the commit',
  );
  t.same(await deliver([batchOf(older, ['b@set'], 7), batchOf(newer, ['c@set'], 8)], 9), [older, newer]);
  const stored: string[] = [];
  await store.queries.scanIds([older, newer], (ids) => void stored.push(...ids));
  t.same(stored.sort(), ['a@set', 'b@set', 'c@set', 'run-ffff-1', 'run-ffff-2']);
  const metrics = await registry.metrics();
  t.match(metrics, 'sluice_dead_letters_known_total 4');
  t.match(metrics, 'sluice_dead_letters_total{code="OTHER_CODE"} 2');
});

t.test('what a foreign producer calls a code does not make a metric each', async (t) => {
  const store = await openStore(t, { threads: 1 });
  const registry = new Registry();
  const known = createDeadLetterDeduplicator(store, buildMetrics(registry, deadLetterMetrics));
  for (let number = 0; number < 300; number += 1)
    await known.leaveOut(
      new Map([
        ['sluice_dead_letters_0', batchOf('sluice_dead_letters_0', [`run-ffff-${number}`], number, `CODE_${number}`)],
      ]),
    );
  t.ok(
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('sluice_dead_letters_total{')).length <=
      101,
  );
});
