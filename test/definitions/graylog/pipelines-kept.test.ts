/** Pipelines as they are kept: the same in every process, after a restart, and beside rule files that change. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SluiceError } from '../../../core/errors.js';
import { fieldProblemsOf, type DefinitionWriter } from '../../../definitions/contract.js';
import { createRig, until } from '../rig.js';

const rule = (id: string, then: readonly object[]) => ({
  definition: { id, title: id, when: { field: 'app', exists: true }, then },
});

async function connected(objects: DefinitionWriter, then: readonly object[]): Promise<void> {
  await objects.create('pipeline-rules', 'first', rule('first', [{ set: { field: 'seen', value: 'yes' } }]), 'anna');
  await objects.create('pipeline-rules', 'second', rule('second', then), 'anna');
  await objects.create(
    'pipelines',
    'both',
    { definition: { id: 'both', title: 'both', stages: [{ stage: 0, match: 'either', rules: ['first', 'second'] }] } },
    'anna',
  );
  await objects.change(
    'connections',
    'all-messages',
    () => ({ definition: { id: 'all-messages', pipelines: ['both'] } }),
    'anna',
  );
}

const codeOf = (work: Promise<unknown>): Promise<SluiceError> =>
  work.then(
    () => {
      throw new Error('it was taken');
    },
    (error: SluiceError) => error,
  );

t.test('every process comes to the same rules, also one that starts later', async (t) => {
  const rig = await createRig(t);
  const other = await rig.another();
  const plain = (await rig.world.ruleSets.load()).version;
  await connected(rig.world.writer(), [{ set: { field: 'also', value: 'yes' } }]);
  const rules = await rig.world.ruleSets.load();
  t.not(rules.version, plain);
  await until(async () => (await other.ruleSets.load()).version === rules.version);
  t.equal((await (await rig.another()).ruleSets.load()).version, rules.version);
  const document: Record<string, string> = { app: 'x' };
  rules.apply(document, { messageId: '1', receiver: 'r' });
  t.match(document, { seen: 'yes', also: 'yes' });
  const catalog = await rig.world.catalog();
  t.match(
    catalog
      .list('rules')
      .filter(({ derived }) => derived)
      .map(({ id, origin }) => ({ id, origin })),
    [
      { id: 'pipeline--0-0-0-0--first', origin: 'api' },
      { id: 'pipeline--0-0-0-1--second', origin: 'api' },
    ],
  );
});

t.test('a rule that fits the files no more is refused while it is changed, and left out at the start', async (t) => {
  const rig = await createRig(t);
  const folder = join(rig.folder, 'rules');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'own.yaml'), 'streams: [{id: own}]');
  const objects = rig.world.writer();
  await connected(objects, [{ route: { stream: 'own' } }]);
  const wrong = await codeOf(
    objects.change('pipeline-rules', 'second', () => rule('second', [{ route: { stream: 'none' } }]), 'anna'),
  );
  t.equal(wrong.code, 'OBJECT_INVALID');
  t.match(fieldProblemsOf(wrong), [{ field: 'then[0].route.stream', message: /no stream of this id/ }]);
  const unconnected = await codeOf(
    objects.create(
      'pipelines',
      'p',
      { definition: { id: 'p', title: 'p', stages: [{ stage: 0, match: 'all', rules: ['nothing'] }] } },
      'anna',
    ),
  );
  t.match(fieldProblemsOf(unconnected), [{ field: 'source' }]);

  rmSync(join(folder, 'own.yaml'));
  const later = await rig.another();
  const rules = await later.ruleSets.load();
  t.same(
    later.leftOut('pipeline-rules').map(({ id }) => id),
    ['second'],
  );
  const document: Record<string, string> = { app: 'x' };
  rules.apply(document, { messageId: '1', receiver: 'r' });
  t.equal(document['seen'], 'yes', 'the others go on');
});
