/** Objects where several processes share one state. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { silentLog } from '../../core/log.js';
import { createDefinitionStore, type DefinitionStore } from '../../definitions/definition-store.js';
import { loadConfig, settings } from '../../program/settings.js';
import { createMemoryState } from '../../bench/memory-state.js';
import type { StateStore } from '../../state/contract.js';
import { createState } from '../../state/registry.js';
import { openSearchNode, skipWithoutOpenSearch } from '../engines.js';
import { testFolder } from '../program.js';
import { until } from './rig.js';

const orders = { definition: { id: 'orders', rules: [{ type: 'exact', field: 'app', value: 'orders' }] } };

t.test('a process that must not wait for the state takes objects over when it answers', async (t) => {
  const { config } = loadConfig({ folder: testFolder(t), environment: {} });
  const memory = createMemoryState();
  let away = true;
  const state: StateStore = { ...memory, start: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()) };
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const world = createDefinitionStore({
    config,
    settings,
    state,
    stateIs: 'own',
    applied: () => Promise.resolve(),
    log: silentLog,
  });
  t.teardown(() => world.stop(1_000));
  await memory.put(
    'objects/streams/orders',
    { ...orders, secrets: {}, created_at: '2026-01-01T00:00:00.000Z', created_by: 'x', changed_at: '', changed_by: '' },
    undefined,
  );
  let told = false;
  world.onChange(() => {
    told = true;
  });
  await world.start();
  t.notOk(
    (await world.ruleSets.load()).streams.some(({ id }) => id === 'orders'),
    'it begins with the files',
  );
  away = false;
  await until(() => told);
  t.ok((await world.ruleSets.load()).streams.some(({ id }) => id === 'orders'));
});

t.test('without any state there are only files', async (t) => {
  const { config } = loadConfig({ folder: testFolder(t), environment: {} });
  const world = createDefinitionStore({
    config,
    settings,
    state: undefined,
    stateIs: 'own',
    applied: () => Promise.resolve(),
    log: silentLog,
  });
  await world.start();
  t.throws(() => world.writer(), { code: 'OBJECTS_UNAVAILABLE' });
  t.ok((await world.catalog()).list('streams').length > 0);
  await world.stop(1_000);
});

const opensearch = openSearchNode();
t.test(
  'two processes on OpenSearch know what the other made within about a second',
  skipWithoutOpenSearch(),
  async (t) => {
    const index = `objects-${randomBytes(4).toString('hex')}`;
    const { config } = loadConfig({
      folder: testFolder(t),
      environment: {},
      overrides: {
        'topics.kind': 'kafka',
        'store.kind': 'opensearch',
        'store.opensearch.nodes': [opensearch],
        'store.opensearch.state_index': index,
      },
    });
    t.teardown(async () => void (await fetch(`${opensearch ?? ''}/${index}`, { method: 'DELETE' })));
    const start = async (t: Test): Promise<DefinitionStore> => {
      const state = createState(config, { log: silentLog });
      await state.start();
      const world = createDefinitionStore({
        config,
        settings,
        state,
        stateIs: 'shared',
        applied: () => Promise.resolve(),
        log: silentLog,
      });
      t.teardown(async () => {
        await world.stop(1_000);
        await state.stop(1_000);
      });
      await world.start();
      return world;
    };
    const [one, two] = [await start(t), await start(t)];
    await one.writer().create('streams', 'orders', orders, 'anna');
    await until(() => two.stored().length === 1);
    t.equal((await two.ruleSets.load()).version, (await one.ruleSets.load()).version);
    const results = await Promise.allSettled([
      one.writer().change('streams', 'orders', () => ({ definition: { ...orders.definition, title: 'One' } }), 'anna'),
      two.writer().change('streams', 'orders', () => ({ definition: { ...orders.definition, title: 'Two' } }), 'ben'),
    ]);
    t.ok(results.some(({ status }) => status === 'fulfilled'));
    for (const result of results)
      if (result.status === 'rejected') t.match(result.reason, { code: 'OBJECT_CONFLICT', retryable: true });
    await two.writer().remove('streams', 'orders', 'ben');
    await until(() => one.stored().length === 0);
  },
);
