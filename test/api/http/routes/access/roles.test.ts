import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { createAccessWorld } from './world.js';

const read = (id: string): string => `streams:read:${apiIdOf(id)}`;
const edit = (id: string): string => `streams:edit:${apiIdOf(id)}`;

await t.test('roles are made with streams to read and to edit, and read back as they were sent', async (test) => {
  const { ask, access } = await createAccessWorld(test);
  const created = await ask('POST', '/api/roles', {
    as: 'Admin',
    body: {
      name: 'Shop team',
      description: 'of the shop',
      permissions: [read('system-logs'), edit('integration-logs'), 'dashboards:read:5e2'],
      read_only: false,
    },
  });
  test.equal(created.statusCode, 201);
  const expected = {
    name: 'Shop team',
    description: 'of the shop',
    permissions: [read('system-logs'), read('integration-logs'), edit('integration-logs'), 'dashboards:read:5e2'],
    read_only: false,
    origin: 'api',
    file: null,
  };
  test.same(created.json(), expected, 'editing a stream is reading it, too');
  test.same((await ask('GET', '/api/roles/SHOP%20TEAM', { as: 'Admin' })).json(), expected);
  const list = (await ask('GET', '/api/roles', { as: 'Admin' })).json<{
    total: number;
    roles: { name: string; read_only: boolean }[];
  }>();
  test.same(
    [list.total, list.roles.map(({ name, read_only: readOnly }) => `${name} ${String(readOnly)}`)],
    [5, ['Administrator true', 'AuditViewer true', 'Operator true', 'Reader true', 'Shop team false']],
  );
  const changed = await ask('PUT', '/api/roles/shop%20team', {
    as: 'Admin',
    body: { name: 'Shop team', description: 'changed', permissions: [read('all-messages')] },
  });
  test.same(
    [changed.statusCode, changed.json<{ permissions: string[] }>().permissions],
    [200, ['streams:read:000000000000000000000001']],
  );
  test.equal((await ask('PUT', '/api/roles/shop%20team/members/OPERATOR', { as: 'Admin', body: {} })).statusCode, 204);
  test.match((await ask('GET', '/api/roles/shop%20team/members', { as: 'Admin' })).json(), {
    role: 'Shop team',
    users: [{ username: 'Operator', roles: ['Reader', 'Operator', 'Shop team'] }],
  });
  test.equal((await ask('DELETE', '/api/roles/shop%20team/members/operator', { as: 'Admin' })).statusCode, 204);
  test.equal((await ask('DELETE', '/api/roles/shop%20team', { as: 'Admin' })).statusCode, 204);
  test.equal((await ask('GET', '/api/roles/shop%20team', { as: 'Admin' })).statusCode, 404);
  test.equal(access.roles().length, 4);
});

await t.test('what is refused, with its status', async (test) => {
  const { ask } = await createAccessWorld(test);
  const create = async (body: unknown, as = 'Admin') => (await ask('POST', '/api/roles', { as, body })).statusCode;
  test.equal(await create({ name: 'reader' }), 400, 'taken');
  test.equal(await create({ name: '' }), 400);
  test.equal(await create({}), 400);
  test.equal(await create({ name: 'x', permissions: ['*'] }), 400);
  test.equal(await create({ name: 'x', permissions: [read('audit-logs')] }), 400);
  for (const as of ['Operator', 'AuditViewer']) test.equal(await create({ name: 'x' }, as), 403, as);
  test.equal(
    (await ask('PUT', '/api/roles/reader', { as: 'Admin', body: { description: 'x' } })).statusCode,
    403,
    'it ships',
  );
  test.equal((await ask('DELETE', '/api/roles/administrator', { as: 'Admin' })).statusCode, 403);
  test.equal((await ask('DELETE', '/api/roles/nothing', { as: 'Admin' })).statusCode, 404);
  test.equal((await ask('GET', '/api/roles/nothing', { as: 'Admin' })).statusCode, 404);
  test.equal((await ask('GET', '/api/roles/Administrator', { as: 'Operator' })).statusCode, 403);
  test.equal((await ask('GET', '/api/roles/operator', { as: 'Operator' })).statusCode, 200, "one's own");
  test.equal((await ask('GET', '/api/roles/operator/members', { as: 'Operator' })).statusCode, 403);
  test.equal((await ask('PUT', '/api/roles/administrator/members/operator', { as: 'Operator' })).statusCode, 403);
  test.equal(
    (await ask('DELETE', '/api/roles/administrator/members/admin', { as: 'Admin' })).statusCode,
    400,
    'the last administrator',
  );
  test.equal((await ask('GET', '/api/roles')).statusCode, 401);
});
