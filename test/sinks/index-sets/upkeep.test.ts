/** Upkeep of several sets by several processes: failures, changed limits, indices opened and deleted meanwhile. */
import t from 'tap';
import { until } from '../../program.js';
import { keepAll, large, rotate, rules, start } from './rig.js';

function hold(): { readonly held: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { held, release };
}

t.test('a set that fails does not stop the others', async (t) => {
  const limits = { rotation: { type: 'count', max_documents: 3 }, retention: { type: 'delete', max_indices: 1 } };
  const rig = await start(t, rules(limits, limits));
  for (const kind of ['default', 'other']) await rig.deliver(3, 10, kind);
  rig.faults.indices.list = (set) =>
    set === 'sluice_default' ? Promise.reject(new Error('unreadable')) : rig.store.indices.list(set);
  await rig.processor.indexSets.checkRotation();
  await rig.deliver(1, 10, 'other');
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names('other'), ['other_1']);
  t.same(await rig.names(), ['sluice_default_0']);
  t.equal(rig.logged.filter(({ error }) => String(error).includes('unreadable')).length, 2);
  delete rig.faults.indices.list;
  await rig.processor.indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1']);
});

t.test('changed rules change the limits of a running set', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }));
  await rig.deliver(10);
  const { indexSets } = rig.processor;
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0']);
  await rig.change(
    rules({ rotation: { type: 'count', max_documents: 10 }, retention: { type: 'delete', max_indices: 1 } }),
  );
  await indexSets.checkRotation();
  await rig.deliver(1);
  await indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_1']);
});

t.test('an index that was opened again stays open when another process closes it late', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }));
  const { indexRequests, indexSets } = rig.processor;
  await rotate(rig);
  const { held, release } = hold();
  let late: Promise<void> | undefined;
  rig.faults.indices.close = (index) => {
    delete rig.faults.indices.close;
    late = held.then(() => rig.store.indices.close(index));
    return late;
  };
  await indexRequests.retire('sluice_default_0', 'close');
  await until(
    () => (late === undefined ? undefined : true),
    5_000,
    () => 'nobody closes the index',
  );
  await indexSets.checkRetention();
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [false, true],
    'closed by the second one',
  );
  await indexRequests.reopen('sluice_default_0');
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [true, true],
  );
  release();
  await late;
  await until(
    async () => ((await rig.indices()).every(({ open }) => open) ? true : undefined),
    5_000,
    () => 'it stays closed',
  );
  await rig.store.indices.close('sluice_default_0');
  await indexRequests.reopen('sluice_default_0');
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [true, true],
    'whoever closed it, it can be opened again',
  );
});

t.test('an index that is being deleted is not closed instead', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }));
  const { indexRequests, indexSets } = rig.processor;
  await rotate(rig);
  const { held, release } = hold();
  rig.faults.indices.delete = (index) => held.then(() => rig.store.indices.delete(index));
  await indexRequests.retire('sluice_default_0', 'delete');
  await t.rejects(indexRequests.retire('sluice_default_0', 'close'), { code: 'PIPELINE_INDEX_CHANGED' });
  await indexRequests.retire('sluice_default_0', 'delete');
  release();
  await indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_1']);
});

t.test('a set that is deleted before processors have left it goes when they have', async (t) => {
  const limits = { rotation: large, retention: keepAll };
  const rig = await start(t, rules(limits));
  const { indexRequests, indexSets } = rig.processor;
  await rotate(rig, 'other');
  await indexRequests.retireAll('other');
  t.equal(await indexRequests.leaving('other'), true);
  await until(
    async () => ((await rig.names('other')).length === 1 ? true : undefined),
    10_000,
    () => JSON.stringify(rig.logged.slice(-5)),
  );
  await rig.deliver(3, 10, 'other');
  await indexSets.checkRetention();
  t.same(
    (await rig.indices('other')).map(({ name, documents }) => [name, documents]),
    [['other_1', 4]],
    'messages are still written to it',
  );
  await rig.change(rules(limits, null));
  t.equal(await indexRequests.leaving('other'), false);
  t.equal(await indexRequests.rotate('other'), 'absent');
  await rig.deliver(1);
  await indexSets.checkRetention();
  t.same(await rig.names('other'), []);
  await rig.change(rules(limits));
  t.same(await rig.names('other'), ['other_2'], 'a set of its name begins anew, with a name that was never used');
  t.equal(await indexRequests.leaving('other'), false);
  t.equal(await indexRequests.rotate('other'), 'rotated');
});
