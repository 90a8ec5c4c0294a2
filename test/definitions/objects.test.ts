import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SluiceError } from '../../core/errors.js';
import { fieldProblemsOf } from '../../definitions/contract.js';
import { keyOf, type StoredValue } from '../../definitions/stored.js';
import { readRuleSource, versionOf } from '../../rules/loading/source.js';
import { createRig, until, type Rig } from './rig.js';

const stream = (id: string, more: object = {}) => ({
  definition: { id, title: id, rules: [{ type: 'exact', field: 'app', value: id }], ...more },
});

const codeOf = (work: Promise<unknown>): Promise<SluiceError> =>
  work.then(
    () => {
      throw new Error('it was taken');
    },
    (error: SluiceError) => error,
  );

function writeRules(rig: Rig, name: string, text: string): void {
  mkdirSync(join(rig.folder, 'rules'), { recursive: true });
  writeFileSync(join(rig.folder, 'rules', name), text);
}

t.test(
  'an object is part of the rules, of this process and of another one, as a file behind those of the operator',
  async (t) => {
    const rig = await createRig(t);
    const other = await rig.another();
    let told = 0;
    other.ruleSets.subscribe(await other.ruleSets.load(), () => {
      told += 1;
    });
    const plain = await rig.world.ruleSets.load();
    t.equal(
      plain.version,
      versionOf(await readRuleSource(join(rig.folder, 'rules'))),
      'without objects the version is that of the files',
    );

    await rig.world.writer().create('streams', 'orders', stream('orders'), 'anna');
    const rules = await rig.world.ruleSets.load();
    t.not(rules.version, plain.version);
    t.same(rules.apply({ app: 'orders' }, { messageId: '1', receiver: 'r' }).streams, ['all-messages', 'orders']);
    t.match(rules.source.files.at(-1)?.name, 'api/streams.yaml');
    await until(async () => (await other.ruleSets.load()).version === rules.version);
    await until(() => told > 0);
  },
);

t.test('who made and changed an object, and when, is kept; another revision is a conflict', async (t) => {
  const rig = await createRig(t);
  const objects = rig.world.writer();
  const made = await objects.create('streams', 'orders', stream('orders'), 'anna');
  const changed = await objects.change(
    'streams',
    'orders',
    (before) => ({ definition: { ...before?.definition, title: 'Orders' } }),
    'ben',
  );
  t.match(changed, {
    created_by: 'anna',
    created_at: made.created_at,
    changed_by: 'ben',
    definition: { title: 'Orders' },
  });
  t.not(changed.revision, made.revision);
  await objects.remove('streams', 'orders', 'anna');
  t.equal(objects.find('streams', 'orders'), undefined);
  t.ok(objects.wasUsed('streams', 'orders'), 'the id is not given to another stream unasked');
  t.equal((await codeOf(objects.remove('streams', 'orders', 'anna'))).code, 'OBJECT_UNKNOWN');
});

t.test('what would not compile is refused with the place, and nothing is stored', async (t) => {
  const rig = await createRig(t);
  const objects = rig.world.writer();
  const error = await codeOf(
    objects.create(
      'streams',
      'orders',
      stream('orders', { rules: [{ type: 'regex', field: 'app', value: '(' }] }),
      'anna',
    ),
  );
  t.equal(error.code, 'OBJECT_INVALID');
  t.match(fieldProblemsOf(error), [{ field: 'rules[0].value', message: /The pattern cannot be compiled/ }]);
  const unknown = await codeOf(
    objects.create('streams', 'orders', stream('orders', { index_set: 'sluice_defautl' }), 'anna'),
  );
  t.match(fieldProblemsOf(unknown), [{ field: 'index_set', message: /Did you mean sluice_default\?/ }]);
  t.same(await rig.state.list('objects/'), []);

  await objects.create('streams', 'orders', stream('orders'), 'anna');
  t.equal((await codeOf(objects.create('streams', 'orders', stream('orders'), 'anna'))).code, 'OBJECT_EXISTS');
  await objects.create(
    'rules',
    'to-orders',
    { definition: { id: 'to-orders', when: { always: true }, then: [{ route: { stream: 'orders' } }] } },
    'anna',
  );
  const used = await codeOf(objects.remove('streams', 'orders', 'anna'));
  t.match(fieldProblemsOf(used), [
    { field: '', message: /^In rules to-orders, then\[0\].*There is no stream of this id/ },
  ]);
  t.ok(objects.find('streams', 'orders'));
});

t.test('the catalog says where an object comes from', async (t) => {
  const rig = await createRig(t);
  writeRules(rig, 'own.yaml', 'streams: [{id: billing}, {id: audit-logs, title: Audit}]');
  const objects = rig.world.writer();
  await objects.create('streams', 'orders', stream('orders'), 'anna');
  await objects.change(
    'index-sets',
    'sluice_audit',
    () => ({ definition: { id: 'sluice_audit', title: 'Audit, for long' } }),
    'anna',
  );
  const catalog = await rig.world.catalog();
  const originOf = (id: string) => catalog.find('streams', id)?.origin;
  t.same(
    [originOf('orders'), originOf('billing'), originOf('audit-logs'), originOf('system-logs')],
    ['api', 'file', 'file', 'shipped'],
  );
  t.equal(catalog.find('streams', 'billing')?.file, 'own.yaml');
  t.match(catalog.find('index-sets', 'sluice_audit'), {
    origin: 'shipped',
    settings: { title: 'Audit, for long', rotation: { type: 'size', max_size: '5 GB' } },
    stored: { changed_by: 'anna' },
  });
  t.equal(catalog.find('streams', '000000000000000000000001')?.id, 'all-messages');
});

t.test('a change of the files that an object does not fit is refused; at a start the object is left out', async (t) => {
  const rig = await createRig(t);
  writeRules(rig, 'sets.yaml', 'index_sets: [{id: shop}]');
  const objects = rig.world.writer();
  await objects.create('streams', 'orders', stream('orders', { index_set: 'shop' }), 'anna');
  await objects.create('streams', 'carts', stream('carts'), 'anna');
  const before = await rig.world.ruleSets.load();
  rmSync(join(rig.folder, 'rules', 'sets.yaml'));
  const refused = await codeOf(rig.world.ruleSets.load());
  t.equal(refused.code, 'PIPELINE_RULES_INVALID');
  t.match(refused.message, /api\/streams\.yaml:\d+/);

  const restarted = await rig.another();
  const rules = await restarted.ruleSets.load();
  t.ok(before.streams.some(({ id }) => id === 'orders'));
  t.notOk(rules.streams.some(({ id }) => id === 'orders'));
  t.ok(
    rules.streams.some(({ id }) => id === 'carts'),
    'others stay',
  );
  t.match((await restarted.catalog()).find('streams', 'orders')?.problem, /no index set/);
  await restarted.writer().create('streams', 'bills', stream('bills'), 'anna');
  t.ok(
    (await restarted.ruleSets.load()).streams.some(({ id }) => id === 'bills'),
    'the object left out holds up no other change',
  );
  await restarted
    .writer()
    .change(
      'streams',
      'orders',
      (kept) => ({ definition: { ...kept?.definition, index_set: 'sluice_default' } }),
      'anna',
    );
  t.ok(
    (await restarted.ruleSets.load()).streams.some(({ id }) => id === 'orders'),
    'and comes back when it fits',
  );
});

t.test('two that do not go together, made at the same moment, do not both stay', async (t) => {
  const rig = await createRig(t);
  const other = await rig.another();
  await rig.world.writer().create('index-sets', 'shop', { definition: { id: 'shop' } }, 'anna');
  await until(() => other.stored().length === 1);
  const results = await Promise.allSettled([
    rig.world.writer().remove('index-sets', 'shop', 'anna'),
    other.writer().create('streams', 'orders', stream('orders', { index_set: 'shop' }), 'ben'),
  ]);
  await rig.world.writer().refresh();
  t.equal(
    results.some(({ status }) => status === 'fulfilled'),
    true,
  );
  const kept = rig.world.stored().map(({ id }) => id);
  t.ok(!kept.includes('orders') || kept.includes('shop'), `kept: ${kept.join(', ')}`);
});

t.test(
  'a secret of an output is in no rule file, and reaches the output under the name that stands there',
  async (t) => {
    const rig = await createRig(t);
    const objects = rig.world.writer();
    const definition = { id: 'siem', type: 'gelf', host: '127.0.0.1', port: 1, protocol: 'http' };
    await objects.create('outputs', 'siem', { definition, secrets: { 'gelf.token': 'hunter2' } }, 'anna');
    const first = (await rig.world.ruleSets.load()).outputs?.[0]?.gelf.token ?? '';
    t.match(first, /^env:SLUICE_OBJECT_/);
    t.equal(rig.world.environment()[first.slice(4)], 'hunter2');
    t.notMatch(JSON.stringify((await rig.world.ruleSets.load()).source), 'hunter2');
    await objects.change('outputs', 'siem', () => ({ definition, secrets: { 'gelf.token': 'hunter3' } }), 'anna');
    const second = (await rig.world.ruleSets.load()).outputs?.[0]?.gelf.token ?? '';
    t.not(second, first, 'another secret is another setting');
    t.equal(rig.world.environment()[first.slice(4)], undefined);
  },
);

t.test('a receiver is checked as one of the settings, beside those', async (t) => {
  const rig = await createRig(t);
  const objects = rig.world.writer();
  const taken = await codeOf(
    objects.create('receivers', 'second', { definition: { id: 'second', type: 'gelf_tcp', port: 12201 } }, 'anna'),
  );
  t.match(fieldProblemsOf(taken), [{ field: 'port', message: /receiver gelf-tcp has taken/ }]);
  const wrong = await codeOf(
    objects.create('receivers', 'second', { definition: { id: 'second', type: 'gelf_tcp', prot: 5 } }, 'anna'),
  );
  t.match(fieldProblemsOf(wrong), [{ message: /Did you mean port/ }]);
  await objects.create('receivers', 'second', { definition: { id: 'second', type: 'gelf_tcp', port: 0 } }, 'anna');
  t.equal(rig.world.stored().length, 1);
});

t.test('a crash between two steps leaves a state that the next change puts right', async (t) => {
  const rig = await createRig(t);
  const value: StoredValue = {
    definition: { id: 'broken', index_set: 'nowhere' },
    secrets: {},
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: 'x',
    changed_at: '',
    changed_by: '',
  };
  await rig.state.put(keyOf('streams', 'broken'), value, undefined);
  const world = await rig.another();
  t.ok((await world.ruleSets.load()).streams.length > 0);
  await world.writer().create('streams', 'orders', stream('orders'), 'anna');
  await world.writer().remove('streams', 'broken', 'anna');
  t.same(
    world.stored().map(({ id }) => id),
    ['orders'],
  );
});

t.test('an object of a newer program is not guessed at', async (t) => {
  const rig = await createRig(t);
  await rig.world.writer().create('streams', 'orders', stream('orders'), 'anna');
  await rig.state.put('objects/streams/later', { format: 2, shape: 'unknown' }, undefined);
  await t.rejects(rig.another(), { code: 'FORMAT_NEWER' });
  t.same(
    rig.world.stored().map(({ id }) => id),
    ['orders'],
    'who runs already goes on with what it has',
  );
});

t.test('an entry of the state that is no definition is left out, and keeps nothing else from working', async (t) => {
  const rig = await createRig(t);
  await rig.state.put(keyOf('streams', 'odd'), { definition: 'text' }, undefined);
  await rig.state.put('objects/streams/empty', null, undefined);
  const definitions = await rig.another();
  t.same(definitions.stored(), []);
  await definitions.writer().create('streams', 'orders', stream('orders'), 'anna');
  t.ok((await definitions.ruleSets.load()).streams.some(({ id }) => id === 'orders'));
  t.equal((await codeOf(definitions.writer().create('streams', 'odd', stream('odd'), 'anna'))).code, 'OBJECT_CONFLICT');
});
