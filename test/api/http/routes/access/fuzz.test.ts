/**
 * Whatever is sent to sessions, users, roles, tokens and the directory: no answer is 500, and every error is JSON with
 * type and message.
 */
import fc from 'fast-check';
import t from 'tap';
import { createAccessWorld } from './world.js';

const segment = fc.oneof(
  fc.constantFrom('admin', 'operator', 'reader', 'nobody', 'f'.repeat(24), '..', '%00', '__proto__', 'constructor'),
  fc
    .string({ unit: 'binary', maxLength: 20 })
    .filter((text) => Buffer.from(text).toString() === text)
    .map(encodeURIComponent),
);
const query = fc.constantFrom(
  '',
  '',
  '?per_page=-1',
  '?page=2&per_page=1&query=%00',
  '?sort=x&include_permissions=maybe',
);
const value = fc.oneof(
  fc.constantFrom('admin', 'reader', '', 'P1D', 'ldap://127.0.0.1:1', '(uid={user})', 'dc=x'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string({ maxLength: 10 }), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const names = [
  'username',
  'password',
  'old_password',
  'name',
  'description',
  'permissions',
  'roles',
  'email',
  'full_name',
  'session_timeout_ms',
  'timezone',
  'startpage',
  'preferences',
  'token_ttl',
  'settings',
  'enabled',
  'urls',
  'search_base',
  'search_filter',
  'bind_dn',
  'bind_password',
  'timeout_ms',
  'role_mapping',
  'service_account',
] as const;
const body = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 }) },
  {
    weight: 2,
    arbitrary: fc.record({
      username: fc.constantFrom('admin', 'fuzz', 'x'),
      password: fc.constantFrom('admin-secret', 'other-secret'),
    }),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

await t.test('600 requests of an administrator', { timeout: 120_000 }, async (test) => {
  const { ask, table } = await createAccessWorld(test, { settings: { throttle: false, hash_concurrency: 2 } });
  const statuses = new Map<number, number>();
  const routes = table.routes.filter(({ url }) =>
    /^\/api\/(?:users|roles|system\/(?:sessions|authentication))/.test(url),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.array(segment, { minLength: 2, maxLength: 2 }),
      query,
      body,
      async ({ method, url: pattern }, segments, question, sent) => {
        const parts = [...segments];
        const url = pattern.replaceAll(/:\w+/g, () => parts.shift() ?? 'x') + question;
        const encoded = JSON.stringify(sent);
        const answer = await ask(method, url, {
          as: 'Admin',
          ...(method === 'GET' ? {} : { body: encoded, headers: { 'content-type': 'application/json' } }),
        });
        statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
        const problem =
          answer.statusCode >= 400 ? answer.json<{ type?: string; message?: string }>() : { type: '', message: '' };
        if (answer.statusCode >= 500 && answer.statusCode !== 503)
          throw new Error(`${method} ${url} ${encoded}: ${answer.statusCode}`);
        return typeof problem.type === 'string' && typeof problem.message === 'string' && !/argon2/.test(answer.body);
      },
    ),
    { seed: 6, numRuns: 600 },
  );
  test.comment(`statuses: ${JSON.stringify([...statuses].sort())}`);
  test.ok((statuses.get(401) ?? 0) < 60, 'the administrator is one to the end');
});
