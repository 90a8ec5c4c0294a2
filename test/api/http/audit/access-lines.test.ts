/** Access lines: their shape, that nobody can forge them, and which of them are security events. */
import t from 'tap';
import { Type } from 'typebox';
import { accessLine, failedLoginLine, isSecurityEvent } from '../../../../api/http/audit/access-line.js';
import type { ApiServer } from '../../../../api/http/contract.js';
import { failure } from '../../../../api/http/failure.js';
import { createWorld } from '../world.js';

const at = Date.UTC(2020, 0, 1, 10, 0, 0, 1);
const line = {
  at,
  address: '192.0.2.7',
  user: undefined,
  method: 'POST',
  url: '/api/system/sessions',
  agent: 'curl/8',
  status: 200,
};

t.test('access lines are as reports read them', (t) => {
  t.equal(accessLine(line), '[2020-01-01T10:00:00,001][DEBUG]192.0.2.7 - [-] "POST api/system/sessions" curl/8 200 -1');
  t.equal(
    accessLine({ ...line, user: 'alice', method: 'GET', url: '/api/users/alice?include=x' }),
    '[2020-01-01T10:00:00,001][DEBUG]192.0.2.7 alice [-] "GET api/users/alice" curl/8 200 -1',
  );
  t.equal(
    failedLoginLine(at, 'alice'),
    '[2020-01-01T10:00:00,001][INFO]Invalid credentials in session create request. Actor: "urn:sluice:user:alice"',
  );
  t.end();
});

t.test('nothing that a client sends ends a line, its quotes or its user slot', (t) => {
  const evil = 'x\r\n[2020-01-01T10:00:00,001][DEBUG]10.0.0.1 admin [-] "DELETE api/system/sessions/1" curl 204 -1';
  for (const forged of [
    accessLine({ ...line, user: evil }),
    accessLine({ ...line, agent: evil }),
    accessLine({ ...line, url: `/api/users/${evil}` }),
    failedLoginLine(at, evil),
    accessLine({ ...line, agent: `\u2028\u0085\u202e${evil}`, user: '\u0000' }),
  ]) {
    t.notMatch(forged, /[\r\n\u0000\u0085\u2028\u202e]/u);
    t.equal(forged.split('"').length, 3, `one pair of quotes: ${forged}`);
  }
  t.match(
    accessLine({ ...line, user: 'a b" [-] x' }),
    /^\[[^\]]+\]\[DEBUG\]192\.0\.2\.7 a%20b%22%20%5B-%5D%20x \[-\] "POST api\/system\/sessions" curl\/8 200 -1$/,
  );
  t.ok(accessLine({ ...line, agent: 'x'.repeat(100_000), url: `/${'y'.repeat(100_000)}` }).length < 2_000, 'bounded');
  t.end();
});

t.test('only logins, user look-ups, logouts and password changes are security events', (t) => {
  for (const [method, url, want] of [
    ['POST', '/api/system/sessions', true],
    ['DELETE', '/api/system/sessions', true],
    ['DELETE', '/api/system/sessions/abc', true],
    ['GET', '/api/users/alice', true],
    ['PUT', '/api/users/alice/password', true],
    ['GET', '/api/users/alice/?x=1', true],
    ['GET', '/api/users/paginated', false],
    ['GET', '/api/users/paginated/', false],
    ['GET', '/api/users/paginated?page=1', false],
    ['GET', '/api/users/%70aginated', false],
    ['GET', '/api/users/paginated2', true],
    ['GET', '/api/system/sessions', false],
    ['GET', '/api/users', false],
    ['GET', '/api/users/alice/tokens', false],
    ['POST', '/api/users', false],
    ['PUT', '/api/users/alice', false],
    ['GET', '/api/streams', false],
  ] as const)
    t.equal(isSecurityEvent(method, url), want, `${method} ${url}`);
  t.end();
});

t.test('requests leave their lines and records', async (t) => {
  const response = { 200: Type.Object({}) };
  const { ask, recorded } = await createWorld(t, {
    routes: [
      (app: ApiServer) => {
        app.post(
          '/api/system/sessions',
          {
            config: { permission: 'public', audit: 'session:create' },
            schema: { body: Type.Object({ username: Type.String() }), response },
          },
          async ({ body }) => {
            if (body.username !== 'alice') throw failure('API_UNAUTHENTICATED', 'No.');
            return {};
          },
        );
        app.delete(
          '/api/system/sessions/:sessionId',
          {
            config: { permission: 'authenticated', audit: 'session:delete' },
            schema: { params: Type.Object({ sessionId: Type.String() }), response },
          },
          async ({ params }) => {
            if (params.sessionId === 'alive') throw failure('API_FORBIDDEN', 'No.');
            return {};
          },
        );
        app.get('/api/quiet', { config: { permission: 'authenticated' }, schema: { response } }, async () => ({}));
      },
    ],
  });
  const since = (): string[] => recorded.splice(0).map(({ text }) => text.replace(/^\[[^\]]+\]/, ''));
  const recordedNow = recorded as unknown[];
  await ask('POST', '/api/system/sessions', { body: { username: 'alice' }, headers: { 'user-agent': 'curl/8' } });
  t.same(since(), [
    '[DEBUG]127.0.0.1 - [-] "POST api/system/sessions" curl/8 200 -1',
    'audit: - session:create username=alice success',
  ]);
  await ask('POST', '/api/system/sessions', { body: { username: 'mallory\nx' }, headers: { 'user-agent': 'curl/8' } });
  t.same(since(), [
    '[DEBUG]127.0.0.1 - [-] "POST api/system/sessions" curl/8 401 -1',
    '[INFO]Invalid credentials in session create request. Actor: "urn:sluice:user:mallory%0Ax"',
    'audit: - session:create username=mallory%0Ax denied',
  ]);
  await ask('DELETE', '/api/system/sessions/gone', { as: 'alice', headers: { 'user-agent': 'curl/8' } });
  t.same(since(), [
    '[DEBUG]127.0.0.1 alice [-] "DELETE api/system/sessions/gone" curl/8 200 -1',
    'audit: alice session:delete success',
  ]);
  await ask('DELETE', '/api/system/sessions/alive', { as: 'alice', headers: { 'user-agent': 'curl/8' } });
  t.notMatch(since().join('\n'), /alive/, 'the id of a session that goes on is a key');
  await ask('GET', '/api/quiet', {
    headers: { authorization: `Basic ${Buffer.from('mallory:secret-word').toString('base64')}` },
  });
  const [denied] = recorded;
  t.match(denied, {
    text: 'audit: mallory credentials:check denied',
    fields: {
      log_id: 'audit',
      audit_actor: 'mallory',
      audit_address: '127.0.0.1',
      audit_action: 'credentials:check',
      audit_outcome: 'denied',
      audit_status: 401,
    },
  });
  t.notMatch(JSON.stringify(recordedNow), /secret-word/);
  since();
  await ask('GET', '/api/quiet', { as: 'alice' });
  t.same(since(), [], 'reading leaves none');
});
