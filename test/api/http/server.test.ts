/** What holds for every route, whatever it does. */
import t from 'tap';
import { Type } from 'typebox';
import type { ApiServer, Permission } from '../../../api/http/contract.js';
import { failure } from '../../../api/http/failure.js';
import type { ApiRoutes } from '../../../api/http/services.js';
import { loadConfig } from '../../../program/settings.js';
import { testFolder } from '../../program.js';
import { basic, createWorld, type World } from './world.js';

const ok = Type.Object({ done: Type.Boolean(), who: Type.Optional(Type.String()) });
const response = { 200: ok };

function route(method: string, url: string, permission: Permission, more: object = {}): ApiRoutes {
  return (app: ApiServer) =>
    void app.route({
      method,
      url,
      config: { permission, ...(method === 'GET' ? {} : { audit: 'thing:change' }) },
      schema: { params: Type.Object({}), response },
      handler: async (request) => ({ done: true, who: request.identity?.username }),
      ...more,
    });
}

const routes: readonly ApiRoutes[] = [
  route('GET', '/api/things', 'authenticated'),
  route('POST', '/api/things', 'authenticated', { schema: { body: Type.Object({ size: Type.Integer() }), response } }),
  route('GET', '/api/open', 'public'),
  route('POST', '/api/open', 'public'),
  route('GET', '/api/admins', 'administrator'),
  route('GET', '/api/system-things', 'system:read'),
  route('GET', '/api/streams/:streamId', 'stream:read', {
    schema: { params: Type.Object({ streamId: Type.String() }), response },
  }),
  route('DELETE', '/api/streams/:streamId', 'stream:edit', {
    schema: { params: Type.Object({ streamId: Type.String() }), response },
  }),
  route('GET', '/api/broken', 'public', {
    handler: async () => {
      throw new Error('secret inside');
    },
  }),
  route('GET', '/api/missing', 'public', {
    handler: async () => {
      throw failure('API_NOT_FOUND', 'There is no such thing.', { body: { extra: 1 } });
    },
  }),
  route('GET', '/api/query', 'public', {
    schema: {
      querystring: Type.Object({ limit: Type.Integer(), deep: Type.Boolean() }),
      response: { 200: Type.Unknown() },
    },
    handler: async (request: { query: unknown }) => request.query,
  }),
];

type Row = readonly [
  what: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  status: number,
];

t.test('who may ask what', async (t) => {
  const world = await createWorld(t, { routes });
  const plain = (headers: Readonly<Record<string, string>>, method: string, path: string) =>
    world.app.inject({ method: method as 'GET', url: path, headers });
  const rows: readonly Row[] = [
    ['nobody', 'GET', '/api/things', {}, 401],
    ['nobody, on a public route', 'GET', '/api/open', {}, 200],
    ['a password', 'GET', '/api/things', { authorization: basic('alice') }, 200],
    ['a wrong password', 'GET', '/api/things', { authorization: basic('alice', 'x') }, 401],
    ['a session as Basic', 'GET', '/api/things', { authorization: basic('alice-session', 'session') }, 200],
    ['a token as Basic', 'GET', '/api/things', { authorization: basic('alice-token', 'token') }, 200],
    ['a token as Bearer', 'GET', '/api/things', { authorization: 'Bearer alice-token' }, 200],
    ['a session cookie', 'GET', '/api/things', { cookie: 'authentication=alice-session' }, 200],
    ['a stale cookie', 'GET', '/api/things', { cookie: 'authentication=gone-session' }, 401],
    ['a stale cookie on a public route', 'GET', '/api/open', { cookie: 'authentication=gone-session' }, 200],
    ['no base64', 'GET', '/api/things', { authorization: 'Basic !!!' }, 400],
    ['no colon', 'GET', '/api/things', { authorization: `Basic ${Buffer.from('alice').toString('base64')}` }, 400],
    ['another scheme', 'GET', '/api/things', { authorization: 'Digest x' }, 400],
    ['one who is throttled', 'GET', '/api/things', { authorization: basic('throttled') }, 429],
    ['a change by nobody without X-Requested-By', 'POST', '/api/things', {}, 401],
    ['a change without X-Requested-By', 'POST', '/api/things', { authorization: basic('alice') }, 400],
    ['a public change without X-Requested-By', 'POST', '/api/open', {}, 400],
    ['an empty X-Requested-By is one', 'POST', '/api/open', { 'x-requested-by': '' }, 200],
    ['an administrator', 'GET', '/api/admins', { authorization: basic('admin') }, 200],
    ['no administrator', 'GET', '/api/admins', { authorization: basic('operator') }, 403],
    ['the capability', 'GET', '/api/system-things', { authorization: basic('operator') }, 200],
    ['not the capability', 'GET', '/api/system-things', { authorization: basic('alice') }, 403],
    ['a stream that may be read', 'GET', '/api/streams/system-logs', { authorization: basic('alice') }, 200],
    ['by its hexadecimal name', 'GET', '/api/streams/000000000000000000000001', { authorization: basic('alice') }, 200],
    ['a stream that may not be read', 'GET', '/api/streams/audit-logs', { authorization: basic('operator') }, 404],
    ['a stream that is not there', 'GET', '/api/streams/none', { authorization: basic('admin') }, 404],
    [
      'a stream that may be changed',
      'DELETE',
      '/api/streams/system-logs',
      { authorization: basic('alice'), 'x-requested-by': 'x' },
      200,
    ],
    [
      'a stream that may only be read',
      'DELETE',
      '/api/streams/all-messages',
      { authorization: basic('alice'), 'x-requested-by': 'x' },
      403,
    ],
    ['an unknown path', 'GET', '/api/none', {}, 404],
    ['an unknown path outside of /api', 'GET', '/nothing', {}, 404],
    ['a change of an unknown path', 'POST', '/api/none', {}, 404],
    ['another method', 'PUT', '/api/things', {}, 405],
    ['HEAD like GET', 'HEAD', '/api/open', {}, 200],
    ['another media type wanted', 'GET', '/api/open', { accept: 'text/csv' }, 406],
    ['a JSON of a kind', 'GET', '/api/open', { accept: 'application/vnd.graylog.search.v2+json' }, 200],
    ['a slash at the end', 'GET', '/api/open/', {}, 200],
    ['a path that cannot be decoded', 'GET', '/api/%zz', {}, 400],
  ];
  for (const [what, method, path, headers, status] of rows) {
    const answer = await plain(headers, method, path);
    t.equal(answer.statusCode, status, `${what}: ${method} ${path} ${answer.body}`);
    t.equal(answer.headers['x-content-type-options'] ?? (path.includes('%zz') && 'nosniff'), 'nosniff');
    if (status < 400) continue;
    t.match(answer.headers['content-type'], /^application\/json/, what);
    if (method !== 'HEAD') t.match(answer.json(), { type: String, message: String }, what);
  }
});

t.test('answers say what a client needs', async (t) => {
  const { ask, app } = await createWorld(t, { routes });
  const unknown = await app.inject({ method: 'GET', url: '/api/things' });
  t.equal(unknown.headers['www-authenticate'], 'Basic realm="Sluice", charset="UTF-8"');
  t.equal(
    (await ask('GET', '/api/things', { headers: { 'x-requested-with': 'XMLHttpRequest' } })).headers[
      'www-authenticate'
    ],
    undefined,
    'no login window of the browser for scripts',
  );
  t.equal((await ask('GET', '/api/things', { as: 'throttled' })).headers['retry-after'], '3');
  t.equal((await ask('PUT', '/api/things', { as: 'alice' })).headers['allow'], 'GET, POST');
  t.equal((await ask('GET', '/api/things')).headers['x-frame-options'], 'DENY');
  t.same((await ask('GET', '/api/missing')).json(), { type: 'ApiError', message: 'There is no such thing.', extra: 1 });
  const broken = await ask('GET', '/api/broken');
  t.equal(broken.statusCode, 500);
  t.notMatch(broken.body, /secret|stack|\.js/, 'nothing of the inside');
});

t.test('bodies are taken as they are, query strings become what the schema says', async (t) => {
  const { ask } = await createWorld(t, { routes, settings: { 'api.max_body_bytes': 1_000 } });
  const post = async (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await ask('POST', '/api/things', { as: 'alice', body, headers })).statusCode;
  t.equal(await post({ size: 1 }), 200);
  t.equal(await post({ size: 1, more: 'ignored' }), 200, 'members that nobody knows');
  t.equal(await post({ size: '1' }), 400, 'no text for a number');
  t.equal(await post('{"size":1', { 'content-type': 'application/json' }), 400);
  t.equal(await post('{"size":1,"__proto__":{}}', { 'content-type': 'application/json' }), 400);
  t.equal(await post('{"size":1}', { 'content-type': 'application/vnd.graylog.search.v1+json; charset=utf-8' }), 200);
  t.equal(await post('size=1', { 'content-type': 'application/x-www-form-urlencoded' }), 415);
  t.equal(await post('size', { 'content-type': 'text/plain' }), 415);
  t.equal(await post({ size: 1, more: 'x'.repeat(1_000) }), 413);
  t.equal(await post(undefined), 400, 'a body is needed');
  t.match((await ask('POST', '/api/things', { as: 'alice', body: { size: 'a' } })).json(), {
    type: 'RequestError',
    message: /size/,
    path: 'body.size',
  });
  t.same((await ask('GET', '/api/query?limit=3&deep=true')).json(), { limit: 3, deep: true });
  t.equal((await ask('GET', '/api/query?limit=x&deep=true')).statusCode, 400);
  t.equal(
    (await ask('POST', '/api/open', { headers: { 'content-type': 'application/json' } })).statusCode,
    200,
    'no body where none is needed, whatever its type',
  );
});

t.test('a route that does not say enough keeps the server from starting', async (t) => {
  const bad = (more: object): Promise<World> =>
    createWorld(t, {
      routes: [
        (app) =>
          void app.route({
            method: 'POST',
            url: '/api/x/:id',
            config: { permission: 'public', audit: 'x:y' },
            schema: { params: Type.Object({}), response },
            handler: async () => ({ done: true }),
            ...more,
          }),
      ],
    });
  t.ok(await bad({}));
  await t.rejects(bad({ config: { audit: 'x:y' } }), /POST \/api\/x\/:id: .*no permission/);
  await t.rejects(bad({ config: { permission: 'public' } }), /no audit name/);
  await t.rejects(bad({ schema: { params: Type.Object({}) } }), /no response schema/);
  await t.rejects(bad({ schema: { response } }), /path parameters/);
});

t.test(
  'it listens beyond loopback only with TLS or behind a proxy, whose word on the address of the client is then taken',
  async (t) => {
    const load = (overrides: Readonly<Record<string, unknown>>): unknown =>
      loadConfig({ folder: testFolder(t), environment: {}, overrides });
    t.throws(() => load({ 'api.host': '0.0.0.0' }), /api\.host: .*without TLS/);
    t.throws(() => load({ 'api.tls.enabled': true }), /api\.tls\.cert_file/);
    t.throws(() => load({ 'api.port': 9833 }), /api\.port: .*which admin has taken/);
    t.doesNotThrow(() => load({ 'api.host': '0.0.0.0', 'api.behind_proxy': true }));
    t.doesNotThrow(() => load({ 'api.host': '127.0.0.2' }));
    const address = async (settings: Readonly<Record<string, unknown>>): Promise<string | undefined> => {
      const { ask, recorded } = await createWorld(t, { routes, settings });
      await ask('POST', '/api/things', {
        as: 'alice',
        body: { size: 1 },
        headers: { 'x-forwarded-for': '203.0.113.9, 192.0.2.7' },
      });
      return recorded.at(-1)?.address;
    };
    t.equal(await address({}), '127.0.0.1', 'anybody could say so');
    t.equal(await address({ 'api.behind_proxy': true }), '192.0.2.7', 'the last address that no trusted proxy has');
    t.equal(
      await address({ 'api.behind_proxy': true, 'api.trusted_proxies': ['10.0.0.0/8'] }),
      '127.0.0.1',
      'a proxy that is not trusted',
    );
  },
);

t.test('it listens on loopback, and names a port that is taken', async (t) => {
  const { start, address, stop } = await createWorld(t, { routes });
  await start();
  const { host, port } = address();
  t.equal((await fetch(`http://${host}:${port}/api/open`)).status, 200);
  const second = await createWorld(t, { routes, settings: { 'api.port': port } });
  await t.rejects(second.start(), { code: 'API_PORT_TAKEN' });
  await stop(1_000);
  await stop(1_000);
});
