/** Roles of rule files over a running pipeline: in force and changed without a restart, in each process. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { accessSources } from '../../../../../program/api/access-sources.js';
import { roleRoutes } from '../../../../../api/http/routes/access/roles.js';
import { streamRoutes } from '../../../../../api/http/routes/definitions/streams.js';
import { compileRules } from '../../../../../rules/compile/compile.js';
import { readRuleSource } from '../../../../../rules/loading/source.js';
import { administrator, createTestAccess, until, type TestAccess } from '../../../../access/support.js';
import { createRig } from '../../../../definitions/rig.js';
import { basic } from '../../world.js';
import { startRunning } from '../running.js';

const roles = (text: string): string => `streams: [{id: alpha}, {id: bravo}]\nroles:\n  - ${text}\n`;

t.test('a role of a file is in force, read-only, and follows its file', async (t) => {
  const accesses: TestAccess[] = [];
  const world = await startRunning(t, {
    routes: [roleRoutes, streamRoutes],
    files: { 'team.yaml': roles('{id: team, description: of alpha, edit: [alpha], capabilities: [streams:create]}') },
    access: async (sluice) => {
      const state = sluice.state as NonNullable<typeof sluice.state>;
      // Two, as in two processes that share the state.
      for (const sources of [accessSources(sluice), accessSources(sluice)])
        accesses.push(await createTestAccess(t, { state, ...sources }));
      return accesses[0] as TestAccess;
    },
  });
  const [access, other] = accesses as [TestAccess, TestAccess];
  await access.createUser(administrator, 'alice', 'alice-secret', { roles: ['team'] });
  const ask = (name: string, secret: string, method: string, path: string, body?: unknown) =>
    world.ask(method, path, {
      as: '',
      headers: { authorization: basic(name, secret) },
      ...(body === undefined ? {} : { body }),
    });
  const asAdmin = (method: string, path: string, body?: unknown) => ask('Admin', 'admin-secret', method, path, body);
  const readable = async (): Promise<string> =>
    (await ask('alice', 'alice-secret', 'GET', '/api/streams'))
      .json<{ streams: { name: string }[] }>()
      .streams.map(({ name }) => name)
      .join();

  t.match((await asAdmin('GET', '/api/roles/TEAM')).json(), {
    name: 'team',
    description: 'of alpha',
    read_only: true,
    origin: 'file',
    file: 'team.yaml',
  });
  t.match((await asAdmin('GET', '/api/roles/reader')).json(), { read_only: true, origin: 'shipped', file: null });
  for (const [method, path, body] of [
    ['PUT', '/api/roles/team', { description: 'x' }],
    ['DELETE', '/api/roles/team', undefined],
    ['POST', '/api/roles', { name: 'Team' }],
  ] as const) {
    const answer = await asAdmin(method, path, body);
    t.equal(answer.statusCode, 409, `${method} ${path}`);
    t.match(answer.json(), { message: /team\.yaml/, code: 'ACCESS_ROLE_OF_FILE' });
  }
  t.equal((await asAdmin('PUT', '/api/roles/team/members/Operator')).statusCode, 204, 'it can be given');
  t.equal(await readable(), 'alpha');

  const file = join(world.rulesFolder, 'team.yaml');
  writeFileSync(file, roles('{id: team, read: [bravo]}'));
  await until(async () => (await readable()) === 'bravo');
  t.same(
    (
      await other.authenticate(
        { kind: 'password', username: 'alice', password: 'alice-secret' },
        { address: '127.0.0.1' },
      )
    ).scope.streams,
    ['bravo'],
  );

  writeFileSync(file, roles('{id: team, read: [no-such-stream]}'));
  await world.sluice.processor?.reloadRules();
  t.match(compileRules(await readRuleSource(world.rulesFolder)), {
    problems: [{ file: 'team.yaml', line: 3, path: 'roles[0].read[0]' }],
  });
  t.equal(await readable(), 'bravo', 'a file that cannot be used changes nothing');

  rmSync(file);
  await until(async () => (await asAdmin('GET', '/api/roles/team')).statusCode === 404);
  t.equal(await readable(), '');
});

t.test('a stream of the API that a role of a file names is not deleted under it', async (t) => {
  const world = await startRunning(t, { routes: [streamRoutes] });
  t.equal((await world.ask('POST', '/api/streams', { body: { title: 'Shop', name: 'shop' } })).statusCode, 201);
  writeFileSync(join(world.rulesFolder, 'team.yaml'), 'roles: [{id: team, read: [shop]}]');
  await until(() => world.sluice.rules()?.roles?.length === 1);
  const refused = await world.told('DELETE', '/api/streams/shop');
  t.equal(refused.status, 400);
  t.match(JSON.stringify(refused.body), /team\.yaml:1 roles\[0\]\.read\[0\]/);
});

t.test(
  'a role that names a stream of the API keeps no program from starting when that stream is left out',
  async (t) => {
    const rig = await createRig(t);
    mkdirSync(join(rig.folder, 'rules'), { recursive: true });
    const file = (name: string, text: string): void => writeFileSync(join(rig.folder, 'rules', name), text);
    file('sets.yaml', 'index_sets: [{id: own_set}]');
    await rig.world.writer().create('streams', 'shop', { definition: { id: 'shop', index_set: 'own_set' } }, 'test');
    file('team.yaml', 'roles: [{id: team, read: [shop]}]');
    t.match((await rig.world.ruleSets.load()).roles, [{ id: 'team', read: ['shop'] }]);
    rmSync(join(rig.folder, 'rules', 'sets.yaml'));
    await t.rejects(
      rig.world.ruleSets.load(),
      { code: 'PIPELINE_RULES_INVALID' },
      'while it runs, such a change of the files is refused',
    );
    const started = await rig.another();
    t.match((await started.ruleSets.load()).roles, [{ id: 'team', read: ['shop'] }]);
    t.same(
      started.leftOut('streams').map(({ id }) => id),
      ['shop'],
    );
    file('team.yaml', 'roles: [{id: team, read: [shopp]}]');
    const again = await rig.another();
    await t.rejects(
      again.ruleSets.load(),
      { code: 'PIPELINE_RULES_INVALID', place: /team\.yaml:1/ },
      'one that nobody made is a mistake',
    );
    const source = { files: [{ name: 'team.yaml', text: 'roles: [{id: team, read: [gone]}]' }] };
    t.ok(
      'ruleSet' in compileRules(source, { rolesMayName: 'all' }),
      'messages of an older rule set are routed, whatever its roles name',
    );
  },
);
