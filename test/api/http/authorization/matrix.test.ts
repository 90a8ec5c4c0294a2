/** Roles by routes by streams: what each route lets pass, and what it checks for itself behind that. */
import t from 'tap';
import type { ApiRoutes } from '../../../../api/http/services.js';
import { administrator, here } from '../../../access/support.js';
import { askers, nobody, startMatrix, type Asker } from './world.js';
import { routeRows, type RouteRow } from './route-rows.js';
import { basic } from '../world.js';

const passed = 418;
/** Answers what the guard has let pass, so that no handler does anything. */
const stopBehindGuard: ApiRoutes = (app) =>
  void app.addHook('preValidation', async (request, reply) =>
    request.headers['x-matrix'] === undefined ? undefined : reply.code(passed).send(null),
  );

const world = await startMatrix(t, { first: [stopBehindGuard], messages: false });
const { table, askAs, access } = world;
const nameOf = ({ method, url }: { readonly method: string; readonly url: string }): string => `${method} ${url}`;
const pathOf = (url: string, stream: string): string => url.replace(':streamId', stream).replaceAll(/:\w+/g, 'x');

function expectedOf(
  { name, administrator: all, capabilities, reads, edits }: Asker,
  { permission }: RouteRow,
  stream: string,
): number {
  if (permission === 'public') return passed;
  if (name === '') return 401;
  if (permission === 'authenticated') return passed;
  if (permission === 'administrator') return all ? passed : 403;
  if (permission === 'stream:read') return reads.includes(stream) ? passed : 404;
  if (permission === 'stream:edit') return edits.includes(stream) ? passed : reads.includes(stream) ? 403 : 404;
  return capabilities.includes(permission) ? passed : 403;
}

t.test('every route stands in the table of the matrix, with the permission that it declares', async (t) => {
  for (const route of table.routes)
    t.equal(
      routeRows.get(nameOf(route))?.permission,
      route.permission,
      `${nameOf(route)}: name it in test/api/http/authorization/route-rows.ts, with what it shows`,
    );
  const served = new Set(table.routes.map(nameOf));
  for (const name of routeRows.keys()) t.ok(served.has(name), `${name} is served`);
});

for (const asker of askers) {
  t.test(`what the routes let pass for ${asker.name === '' ? 'nobody' : asker.name}`, async (t) => {
    const wrong: string[] = [];
    for (const route of table.routes) {
      const row = routeRows.get(nameOf(route));
      const byStream = row !== undefined && row.permission.startsWith('stream:');
      for (const stream of byStream ? ['alpha', 'bravo', 'all-messages', 'audit-logs', 'no-such-stream'] : ['alpha']) {
        const want = row === undefined ? 0 : expectedOf(asker, row, stream);
        for (const method of route.method === 'GET' && row?.shows !== 'messages' ? ['GET', 'HEAD'] : [route.method]) {
          const { statusCode } = await askAs(asker.name, method, pathOf(route.url, stream), {
            headers: { 'x-matrix': 'yes' },
          });
          if (statusCode !== want)
            wrong.push(`${method} ${pathOf(route.url, stream)}: ${statusCode} instead of ${want}`);
        }
      }
    }
    t.same(wrong, []);
  });
}

t.test('without the header that no form can send, no change passes, whoever asks', async (t) => {
  const { sessionId } = await access.openSession('Admin', 'admin-secret', here);
  const authorization = basic(sessionId, 'session');
  for (const { method, url } of table.routes.filter((route) => route.method !== 'GET')) {
    const answer = await world.app.inject({
      method: method as 'POST',
      url: pathOf(url, 'alpha'),
      headers: { authorization, 'x-matrix': 'yes' },
    });
    t.equal(answer.statusCode, 400, `${method} ${url}`);
  }
});

/** Statuses of the named; of all others the last one. */
type Statuses = Readonly<Record<string, number>> & { readonly others: number };
type OwnRow = readonly [method: string, path: string, statuses: Statuses, body?: unknown];

/** Routes that every known user may ask, and what they check for themselves. `somebody` is a user without any right. */
const ownChecks: readonly OwnRow[] = [
  ['GET', '/api/users/somebody', { Admin: 200, 'can-users-edit': 200, others: 403 }],
  ['GET', '/api/users/id/SOMEBODY', { Admin: 200, 'can-users-edit': 200, others: 403 }],
  ['GET', '/api/users/no-such-user', { Admin: 404, 'can-users-edit': 404, others: 403 }],
  ['PUT', '/api/users/somebody', { Admin: 204, 'can-users-edit': 204, others: 403 }, { full_name: 'Some Body' }],
  [
    'PUT',
    '/api/users/somebody/preferences',
    { Admin: 204, 'can-users-edit': 204, others: 403 },
    { preferences: { dark: true } },
  ],
  [
    'PUT',
    '/api/users/somebody/password',
    { Admin: 204, 'can-users-edit': 204, others: 403 },
    { password: 'another-secret' },
  ],
  ['GET', '/api/users/somebody/tokens', { Admin: 200, 'can-users-edit': 200, others: 403 }],
  ['DELETE', '/api/users/somebody/tokens/none', { Admin: 404, 'can-users-edit': 404, others: 403 }],
  ['PUT', '/api/users/Admin', { Admin: 204, others: 403 }, { full_name: 'Admin' }],
  ['PUT', '/api/users/Operator/password', { Admin: 400, Operator: 400, others: 403 }, { password: 'short' }],
  ['POST', '/api/users/Admin/tokens/stolen', { Admin: 200, others: 403 }, {}],
  ['PUT', '/api/users/Admin/status/disabled', { Admin: 400, others: 403 }],
  ['PUT', '/api/roles/Administrator/members/somebody', { Admin: 204, others: 403 }],
  ['PUT', '/api/roles/role%20of%20reads-alpha/members/somebody', { Admin: 204, others: 403 }],
  [
    'POST',
    '/api/roles',
    { Admin: 400, 'can-roles-edit': 403, others: 403 },
    { name: 'role of reads-alpha', permissions: ['streams:read:alpha'] },
  ],
  ['PUT', '/api/roles/role%20of%20reads-alpha', { Admin: 200, others: 403 }, { permissions: ['streams:read:alpha'] }],
  [
    'DELETE',
    '/api/roles/role%20of%20edits-alpha/members/no-such-user',
    { Admin: 404, 'can-users-edit': 404, others: 403 },
  ],
  ['GET', '/api/roles/Administrator', { Admin: 200, 'can-users-edit': 200, 'can-roles-edit': 200, others: 403 }],
  [
    'GET',
    '/api/roles/Administrator/members',
    { Admin: 200, 'can-users-edit': 200, 'can-roles-edit': 200, others: 403 },
  ],
  [
    'GET',
    '/api/search/universal/relative?range=60&filter=streams:audit-logs',
    { Admin: 200, AuditViewer: 200, others: 403 },
  ],
  ['GET', '/api/search/universal/relative?range=60&filter=streams:no-such-stream', { others: 403 }],
  [
    'POST',
    '/api/search/aggregate',
    { Admin: 200, AuditViewer: 200, Operator: 200, others: 403 },
    { streams: ['bravo'], group_by: [{ field: 'source' }], metrics: [] },
  ],
  ['GET', '/api/search/tail?streams=bravo&query=(', { others: 400 }],
  [
    'POST',
    '/api/streams/bravo/outputs',
    { Admin: 404, Operator: 403, AuditViewer: 403, others: 404 },
    { outputs: ['no-such-output'] },
  ],
  [
    'POST',
    '/api/streams/alpha/outputs',
    { Admin: 404, Operator: 403, AuditViewer: 403, 'reads-alpha': 403, 'edits-alpha': 403, others: 404 },
    { outputs: ['no-such-output'] },
  ],
  [
    'POST',
    '/api/streams/bravo/clone',
    { Admin: 400, 'can-streams-create': 404, others: 403 },
    { title: 'Bravo again', index_set_id: 'no-such-set' },
  ],
  [
    'POST',
    '/api/system/outputs',
    { Admin: 400, 'can-outputs-edit': 400, others: 403 },
    { title: 'Mine', type: 'GELF', host: '127.0.0.1', port: 9, streams: ['bravo', 'no-such-stream'] },
  ],
];

t.test('what routes check for themselves', async (t) => {
  await access.createUser(administrator, 'somebody', 'somebody-secret', { roles: [] });
  for (const [method, path, statuses, body] of ownChecks) {
    for (const { name } of askers.filter((asker) => asker !== nobody)) {
      const answer = await askAs(name, method, path, body === undefined ? {} : { body });
      t.equal(
        answer.statusCode,
        statuses[name] ?? statuses.others,
        `${name}: ${method} ${path} ${answer.body.slice(0, 200)}`,
      );
    }
    await access.removeMember(administrator, 'Administrator', 'somebody');
    await access.removeMember(administrator, 'role of reads-alpha', 'somebody');
  }
});

t.test('an output is turned to another host by those who may edit all its streams', async (t) => {
  const body = {
    title: 'Both',
    type: 'GELF',
    host: '127.0.0.1',
    port: 9,
    transport: 'TCP',
    streams: ['alpha', 'bravo'],
  };
  t.equal((await askAs('Admin', 'POST', '/api/system/outputs', { body })).statusCode, 201);
  const by = await access.authenticate({ kind: 'password', username: 'Admin', password: 'admin-secret' }, here);
  for (const [role, permissions] of [
    ['turner', ['outputs:edit']],
    ['turner of alpha', ['outputs:edit', 'streams:edit:alpha']],
    ['turner of both', ['outputs:edit', 'streams:edit:alpha', 'streams:edit:bravo']],
  ] as const) {
    const name = role.replaceAll(' ', '-');
    await access.createRole(by, role, '', permissions);
    await access.createUser(by, name, `${name}-secret`, { roles: [role] });
    const answer = await world.ask('PUT', '/api/system/outputs/both', {
      as: '',
      headers: { authorization: basic(name, `${name}-secret`) },
      body: { port: 10 },
    });
    t.equal(answer.statusCode, role === 'turner of both' ? 200 : 403, role);
    if (role === 'turner') t.notMatch(answer.body, /alpha|bravo/);
  }
});

t.test('a pipeline names its streams only to those who may read them', async (t) => {
  const [base, defaultStream] = ['/api/system/pipelines', '000000000000000000000001'];
  t.equal(
    (
      await askAs('Admin', 'POST', `${base}/rule`, {
        body: { source: 'rule "mark" when has_field("x") then set_field("y", "z"); end' },
      })
    ).statusCode,
    200,
  );
  const { id } = (
    await askAs('Admin', 'POST', `${base}/pipeline`, {
      body: { source: 'pipeline "marks" stage 0 match either rule "mark"; end' },
    })
  ).json<{ id: string }>();
  t.equal(
    (
      await askAs('Admin', 'POST', `${base}/connections/to_stream`, {
        body: { stream_id: defaultStream, pipeline_ids: [id] },
      })
    ).statusCode,
    200,
  );
  for (const { name, capabilities, reads } of askers.filter((asker) => asker.capabilities.includes('system:read'))) {
    for (const path of ['pipeline', `pipeline/${id}`, 'connections', `connections/${defaultStream}`]) {
      const { body } = await askAs(name, 'GET', `${base}/${path}`);
      t.equal(
        body.includes(defaultStream),
        reads.includes('all-messages'),
        `${name} (${capabilities.join(' ')}): ${path}`,
      );
    }
  }
});

t.test('lists show what one may see', async (t) => {
  for (const { name, reads, administrator: all, capabilities } of askers.filter((asker) => asker !== nobody)) {
    const told = async (path: string) =>
      (await askAs(name, 'GET', path)).json<Record<string, readonly Record<string, unknown>[]>>();
    const names = (list: readonly Record<string, unknown>[] | undefined, key: string): unknown[] =>
      (list ?? []).map((item) => item[key]).sort();
    const seesUsers = all || capabilities.includes('users:edit');
    const users = names((await told('/api/users'))['users'], 'username');
    t.ok(
      seesUsers ? users.length >= askers.length : users.length === 1 && users[0] === name,
      `users for ${name}: ${users.join(' ')}`,
    );
    const roles = names((await told('/api/roles'))['roles'], 'name');
    t.ok(
      all || capabilities.includes('users:edit') || capabilities.includes('roles:edit')
        ? roles.length > 10
        : roles.length <= 2,
      `roles for ${name}`,
    );
    for (const path of ['/api/streams', '/api/streams/enabled', '/api/streams/paginated?per_page=100']) {
      const shown = names((await told(path))['streams'], 'name');
      t.same(
        ['alpha', 'audit-logs', 'bravo', 'all-messages'].filter((stream) => shown.includes(stream)).sort(),
        [...reads].sort(),
        `${path} for ${name}`,
      );
      if (reads.length < 3) t.equal(shown.length, reads.length);
    }
  }
});

t.test('many streams at once: each is checked on its own', async (t) => {
  for (const asker of askers.filter((one) => one !== nobody && !one.administrator)) {
    const answer = await askAs(asker.name, 'POST', '/api/streams/bulk_delete', {
      body: { entity_ids: ['alpha', 'bravo', 'audit-logs'] },
    });
    const { successfully_performed: done, failures } = answer.json<{
      successfully_performed: number;
      failures: { entity_id: string; failure_explanation: string }[];
    }>();
    t.equal(done, 0, asker.name);
    for (const { entity_id: stream, failure_explanation: reason } of failures) {
      const want = !asker.reads.includes(stream)
        ? /no such stream/
        : asker.edits.includes(stream)
          ? /rule file matrix\.yaml/
          : /Not allowed/;
      t.match(reason, want, `${asker.name} ${stream}`);
    }
  }
});

t.test('what somebody made is changed and cancelled by nobody else', async (t) => {
  const search = '1'.repeat(24);
  const view = '2'.repeat(24);
  t.equal((await askAs('reader', 'POST', '/api/views/search', { body: { id: search, queries: [] } })).statusCode, 201);
  t.equal(
    (await askAs('reader', 'POST', '/api/views', { body: { id: view, title: 'Mine', search_id: search } })).statusCode,
    200,
  );
  const job = (await askAs('reader', 'POST', `/api/views/search/${search}/execute`, { body: {} })).json<{
    id: string;
  }>().id;
  for (const { name, capabilities, administrator: all } of askers.filter(
    (one) => one !== nobody && one.name !== 'reader' && !one.administrator,
  )) {
    const rows: readonly (readonly [string, string, number, unknown?])[] = [
      ['POST', '/api/views/search', 403, { id: search, queries: [] }],
      ['POST', '/api/views', 403, { id: view, title: 'Stolen', search_id: search }],
      ['PUT', `/api/views/${view}`, 403, { title: 'Stolen', search_id: search }],
      ['DELETE', `/api/views/${view}`, 403],
      ['GET', `/api/views/search/status/${job}`, 403],
      ['DELETE', `/api/views/search/cancel/${job}`, 403],
      ['GET', `/api/views/${view}`, 200],
      ['DELETE', '/api/exports/none', 404],
    ];
    for (const [method, path, status, body] of rows) {
      const answer = await askAs(name, method, path, body === undefined ? {} : { body });
      t.equal(answer.statusCode, status, `${name} (${capabilities.join(' ')}${String(all)}): ${method} ${path}`);
    }
  }
  t.match((await askAs('reader', 'GET', `/api/views/${view}`)).json(), { title: 'Mine', owner: 'reader' });
  t.equal((await askAs('Admin', 'DELETE', `/api/views/${view}`)).statusCode, 200);
});
