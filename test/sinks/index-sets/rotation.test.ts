/** Rotation by size, by count and by time. */
import t from 'tap';
import { until } from '../../program.js';
import { wordsKnown } from '../stores/duckdb/support/words.js';
import { keepAll, rules, start } from './rig.js';

t.test('by size: rotates close to the limit, between checks, and says at which size', async (t) => {
  // Several times what the store writes anew at once (24,576 documents).
  const limit = 60e6;
  const rig = await start(t, rules({ rotation: { type: 'size', max_size: '60 MB' }, retention: keepAll }));
  for (let round = 0; round < 60 && (await rig.names()).length < 2; round += 1) await rig.deliver(5_000, 600);
  const line = await until(
    () => rig.logged.find(({ msg }) => msg === 'index rotated'),
    5_000,
    () => JSON.stringify(rig.logged.slice(-5)),
  );
  t.ok(
    (line['bytes'] as number) > limit * 0.95 && (line['bytes'] as number) < limit * 1.05,
    `rotated at ${String(line['bytes'])} bytes`,
  );
  await rig.processor.indexSets.checkRotation();
  const [first] = await rig.indices();
  t.ok((first?.bytes ?? 0) < limit * 1.05, `ends at ${first?.bytes} bytes`);
  t.ok((first?.documents ?? 0) > 50_000, `${first?.documents} documents`);
});

t.test('by size: words that wait for a quieter time are counted in', async (t) => {
  const limit = 12e6;
  // More rows than an index gets: only what nobody writes to any more is looked at.
  const words = { segmentRows: 32_000, idleMs: 3_000, everyMs: 50 };
  const rig = await start(t, rules({ rotation: { type: 'size', max_size: '12 MB' }, retention: keepAll }), { words });
  for (let indices = 1; indices <= 3; indices += 1) {
    while ((await rig.names()).length < indices) await rig.deliver(1_000, 600);
    // What a word takes is learnt from the first index.
    await wordsKnown(rig.registry, 2_000);
  }
  const rotated = rig.logged.filter(({ msg }) => msg === 'index rotated')[1] ?? {};
  t.ok(
    (rotated['bytes'] as number) < limit * 0.75 && (rotated['pending_bytes'] as number) > limit * 0.25,
    JSON.stringify(rotated),
  );
  await rig.store.indices.checkpoint('sluice_default_1');
  const bytes = (await rig.indices())[1]?.bytes ?? 0;
  t.ok(bytes > limit * 0.85 && bytes < limit * 1.15, `ends at ${bytes} bytes`);
});

t.test('by count: rotates when the number is reached, not before, and not an empty index', async (t) => {
  const rig = await start(t, rules({ rotation: { type: 'count', max_documents: 100 }, retention: keepAll }));
  const { indexSets } = rig.processor;
  await indexSets.checkRotation();
  await rig.deliver(99);
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0']);
  await rig.deliver(1);
  await indexSets.checkRotation();
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1']);
  await rig.deliver(7);
  t.same(
    (await rig.indices()).map(({ documents }) => documents),
    [100, 7],
  );
});

t.test('by time: rotates in the next period when there are documents', async (t) => {
  const rig = await start(t, rules({ rotation: { type: 'time', period: 'PT1S' }, retention: keepAll }));
  const { indexSets } = rig.processor;
  const begun = Date.now();
  await until(
    async () => (await indexSets.checkRotation(), Date.now() - begun > 1_100 ? true : undefined),
    5_000,
    () => '',
  );
  t.same(await rig.names(), ['sluice_default_0'], 'an empty index stays');
  await rig.deliver(1);
  await until(
    async () => (await indexSets.checkRotation(), (await rig.names()).length === 2 ? true : undefined),
    5_000,
    () => JSON.stringify(rig.logged),
  );
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1']);
});
