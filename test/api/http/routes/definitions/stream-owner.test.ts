/** Who creates a stream without being an administrator reads and edits it, and nothing that was there before. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import t from 'tap';
import { accessSources } from '../../../../../program/api/access-sources.js';
import { apiRoutes } from '../../../../../api/http/routes.js';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { administrator, createTestAccess, here, password, until, type TestAccess } from '../../../../access/support.js';
import { basic } from '../../world.js';
import { startRunning, type Running } from '../running.js';

const rules = [{ type: 1, field: 'app', value: 'shop', inverted: false }];

async function start(
  test: Parameters<typeof startRunning>[0],
  files: Readonly<Record<string, string>> = {},
): Promise<{
  world: Running;
  access: TestAccess;
  as: (name: string) => (method: string, path: string, body?: unknown) => ReturnType<Running['ask']>;
}> {
  const accesses: TestAccess[] = [];
  const world = await startRunning(test, {
    routes: apiRoutes,
    files,
    access: async (sluice) => {
      accesses.push(
        await createTestAccess(test, {
          state: sluice.state as NonNullable<typeof sluice.state>,
          ...accessSources(sluice),
        }),
      );
      return accesses[0] as TestAccess;
    },
  });
  const access = accesses[0] as TestAccess;
  await access.createRole(administrator, 'makers', '', ['streams:create']);
  for (const name of ['alice', 'bob'])
    await access.createUser(administrator, name, `${name}-secret`, { roles: ['makers'] });
  const as = (name: string) => (method: string, path: string, body?: unknown) =>
    world.ask(method, path, {
      as: '',
      headers: { authorization: basic(name, name === 'Admin' ? 'admin-secret' : `${name}-secret`) },
      ...(body === undefined ? {} : { body }),
    });
  return { world, access, as };
}

function send(world: Running, count: number): void {
  const sender = connect(world.sluice.receivers[0]?.address().port ?? 0, '127.0.0.1', () =>
    sender.end(
      Array.from(
        { length: count },
        (_, at) => `{"version":"1.1","host":"h","short_message":"sold ${at}","_app":"shop"}\0`,
      ).join(''),
    ),
  );
}

t.test('the creator, and nobody else', async (t) => {
  const { world, access, as } = await start(t);
  const [alice, bob, admin] = [as('alice'), as('bob'), as('Admin')];
  t.same((await alice('POST', '/api/streams', { title: 'Shop', rules })).json(), {
    stream_id: apiIdOf('shop'),
    name: 'shop',
  });
  t.match((await alice('GET', '/api/streams/shop')).json(), {
    name: 'shop',
    creator_user_id: 'alice',
    is_editable: true,
  });
  t.equal((await bob('GET', '/api/streams/shop')).statusCode, 404);
  t.equal((await alice('POST', '/api/streams/shop/resume')).statusCode, 204);
  t.equal((await alice('PUT', '/api/streams/shop', { title: 'The shop' })).statusCode, 200);
  t.match((await alice('GET', '/api/users/alice')).json(), {
    permissions: [`streams:read:${apiIdOf('shop')}`, `streams:edit:${apiIdOf('shop')}`, 'streams:create'],
  });
  send(world, 3);
  const total = async (ask: typeof alice) =>
    (await ask('GET', '/api/search/universal/relative?range=0')).json<{ total_results: number }>().total_results;
  await until(async () => (await total(alice)) === 3);
  t.equal(await total(bob), 0);

  t.equal((await alice('POST', '/api/streams/shop/clone', { title: 'Shop again' })).statusCode, 201);
  t.equal((await alice('DELETE', '/api/streams/shop-again')).statusCode, 204, 'who cloned one owns the clone');
  t.equal((await bob('POST', '/api/streams/shop/clone', { title: 'Mine' })).statusCode, 404);

  const again = await createTestAccess(t, { state: access.state, ...accessSources(world.sluice) });
  t.same(
    (await again.authenticate(password('alice', 'alice-secret'), here)).editableStreams,
    ['shop'],
    'kept for the next start',
  );
  await access.changeUser(administrator, 'alice', { roles: [] });
  t.same(
    (await access.authenticate(password('alice', 'alice-secret'), here)).editableStreams,
    ['shop'],
    'also without the role that allowed it',
  );

  t.equal((await admin('POST', '/api/streams', { title: 'Of the administrator' })).statusCode, 201);
  t.same(
    world.sluice.world
      .stored()
      .filter(({ owner_id: owner }) => owner !== undefined)
      .map(({ id }) => id),
    ['shop'],
    'an administrator needs no right of its own',
  );
});

t.test(
  'the right ends with the stream, and one of the same id is not given to somebody who could not read it',
  async (t) => {
    const { world, access, as } = await start(t, {
      'own.yaml': 'streams: [{id: filed, when: {field: app, equals: shop}}]',
    });
    const [alice, bob, admin] = [as('alice'), as('bob'), as('Admin')];
    t.equal((await alice('POST', '/api/streams', { title: 'Shop', name: 'shop', rules })).statusCode, 201);
    t.equal((await alice('POST', '/api/streams/shop/resume')).statusCode, 204);
    send(world, 2);
    await until(
      async () =>
        (await alice('GET', '/api/search/universal/relative?range=0')).json<{ total_results: number }>()
          .total_results === 2,
    );
    t.equal((await alice('DELETE', '/api/streams/shop')).statusCode, 204);
    t.same((await access.authenticate(password('alice', 'alice-secret'), here)).scope.streams, []);
    t.equal(
      (await bob('POST', '/api/streams', { title: 'Shop', name: 'shop' })).statusCode,
      409,
      'its messages are still stored',
    );
    t.equal(
      (await alice('POST', '/api/streams', { title: 'Shop', name: 'shop' })).statusCode,
      409,
      'not even to who had it',
    );
    t.match((await bob('POST', '/api/streams', { title: 'Shop' })).json(), { name: 'shop-2' });
    t.equal((await admin('POST', '/api/streams', { title: 'Shop', name: 'shop' })).statusCode, 201);
    t.same(
      (await access.authenticate(password('alice', 'alice-secret'), here)).scope.streams,
      [],
      'a later stream of the same id is another one',
    );
    t.equal((await alice('GET', '/api/streams/shop')).statusCode, 404);

    rmSync(`${world.rulesFolder}/own.yaml`);
    await until(() => world.sluice.rules()?.streams.every(({ id }) => id !== 'filed') === true);
    t.equal(
      (await bob('POST', '/api/streams', { title: 'Filed' })).statusCode,
      409,
      'nor one that stood in a file and left messages',
    );
  },
);

t.test("what ships and is changed by somebody is nobody's own", async (t) => {
  const { world, access, as } = await start(t);
  await access.createRole(administrator, 'editors', '', ['streams:edit:system-logs']);
  await access.changeUser(administrator, 'alice', { roles: ['editors'] });
  t.equal((await as('alice')('PUT', '/api/streams/system-logs', { title: 'System' })).statusCode, 200);
  t.equal(world.sluice.world.writer().find('streams', 'system-logs')?.owner_id, undefined);
  await access.changeUser(administrator, 'alice', { roles: [] });
  t.same((await access.authenticate(password('alice', 'alice-secret'), here)).scope.streams, []);
});
