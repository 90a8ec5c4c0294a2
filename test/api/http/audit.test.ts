/** Access lines and audit records: their shape, that nobody can forge them, and that none is lost without a word. */
import t, { type Test } from 'tap';
import { Type } from 'typebox';
import { accessLine, failedLoginLine, isSecurityEvent } from '../../../api/http/access-line.js';
import { createAuditTrail } from '../../../api/http/audit-trail.js';
import type { ApiServer } from '../../../api/http/contract.js';
import { failure } from '../../../api/http/failure.js';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import type { MessageBatch, MessageSink } from '../../../schemas/messages.js';
import { startWhole, type Whole } from './whole.js';
import { createWorld } from './world.js';

const whole = await startWhole(t);
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

function sinkThat(push: (batch: MessageBatch) => Promise<void>): MessageSink {
  return { push, refuse: async () => undefined, full: () => false };
}

const message = (text: string) => ({
  text,
  at,
  level: 6 as const,
  address: '192.0.2.7',
  fields: { audit_actor: 'alice', empty: undefined },
});

t.test('records go into the pipeline as messages of the platform, in one lane, in order', async (t) => {
  const batches: MessageBatch[] = [];
  const trail = createAuditTrail({
    sink: sinkThat(async (batch) => void batches.push(batch)),
    container: 'sluice',
    maxWaiting: 10,
    registry: new Registry(),
    log: silentLog,
  });
  for (const text of ['one', 'two', 'three']) trail.record(message(text));
  await trail.stop(10_000);
  t.equal(batches.length, 1, 'what is recorded at once is appended at once');
  t.match(batches[0], { receiver: 'audit', lane: 0, peers: ['192.0.2.7', '192.0.2.7', '192.0.2.7'] });
  const documents = (batches[0]?.values ?? []).map((value) => JSON.parse(value.toString()) as Record<string, unknown>);
  t.same(
    documents.map(({ short_message: text }) => text),
    ['one', 'two', 'three'],
  );
  t.match(documents[0], {
    version: '1.1',
    host: String,
    timestamp: at / 1000,
    level: 6,
    _container: 'sluice',
    _container_name: 'sluice',
    _audit_actor: 'alice',
  });
  t.notOk('_empty' in (documents[0] ?? {}));
});

t.test('a pipeline that is full or has stopped holds nobody up, and what is lost is counted and logged', async (t) => {
  const registry = new Registry();
  const lost: unknown[] = [];
  const log = { ...silentLog, error: (what: unknown) => void lost.push(what) } as unknown as typeof silentLog;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const trail = createAuditTrail({ sink: sinkThat(() => held), container: 'sluice', maxWaiting: 3, registry, log });
  trail.record(message('sent'));
  await new Promise((resolve) => setImmediate(resolve));
  for (let count = 0; count < 5; count += 1) trail.record(message(`waiting ${count}`));
  t.match(lost, [{ audit: { text: 'waiting 3' }, reason: /max_waiting/ }, { audit: { text: 'waiting 4' } }]);
  await trail.stop(20);
  t.equal(lost.length, 5, 'those that wait at the stop are logged too');
  release();
  const count = async (): Promise<number> =>
    (await registry.getSingleMetric('sluice_audit_records_lost_total')?.get())?.values[0]?.value ?? 0;
  t.equal(await count(), 5);
  const refusing = createAuditTrail({
    sink: sinkThat(() => Promise.reject(new Error('stopped'))),
    container: 'sluice',
    maxWaiting: 3,
    registry,
    log,
  });
  refusing.record(message('refused'));
  await refusing.stop(10_000);
  t.equal(await count(), 6);
});

type Request = readonly [as: string, method: string, path: string, body?: unknown];

/** What the request left: `<actor> <action> <object> <outcome>`, and the details. */
async function recordOf(
  world: Whole,
  [as, method, path, body]: Request,
): Promise<readonly [text: string, details: unknown]> {
  world.recorded.length = 0;
  const headers = typeof body === 'string' ? { 'content-type': 'text/plain' } : {};
  await world.ask(method, path, { as, headers, ...(body === undefined ? {} : { body }) });
  const records = world.recorded.filter(({ fields }) => fields?.['log_id'] === 'audit');
  const details = records[0]?.fields?.['audit_details'];
  return [
    records.map(({ text }) => text.replace(/^audit: /, '')).join('\n'),
    details === undefined ? undefined : JSON.parse(String(details)),
  ];
}

async function expectRecords(
  t: Test,
  world: Whole,
  rows: readonly (readonly [request: Request, text: string | RegExp, details?: unknown])[],
): Promise<void> {
  for (const [request, text, details] of rows) {
    const [found, foundDetails] = await recordOf(world, request);
    t.match(
      found,
      typeof text === 'string' ? new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) : text,
      request.join(' '),
    );
    if (details !== undefined) t.match(foundDetails, details, `${request.slice(0, 3).join(' ')}: details`);
  }
}

t.test('whatever shows stored messages leaves a record, and so does its refusal', async (t) => {
  const when = { field: 'container', equals: 'pay' };
  const [hit] = (await whole.told('GET', '/api/search/universal/relative?range=3600&query=container:pay')).body[
    'messages'
  ] as { index: string; message: { _id: string } }[];
  const [letter] = (await whole.told('GET', '/api/dead-letters')).body['dead_letters'] as { id: string }[];
  const { index = '', message: { _id: id = '' } = {} } = hit ?? {};
  const letterId = letter?.id ?? '';
  await expectRecords(t, whole, [
    [
      ['admin', 'POST', '/api/streams/system-logs/try/history', { messages: 5, samples: 2 }],
      'the-admin search:history streamId=system-logs success',
      { messages: 5, samples: 2 },
    ],
    [
      ['admin', 'POST', '/api/streams/try/history', { when, samples: 2 }],
      `the-admin search:history {"when":${JSON.stringify(when)}} success`,
      { samples: 2 },
    ],
    [
      ['admin', 'POST', '/api/rules/try/history', { when }],
      `the-admin search:history {"when":${JSON.stringify(when)}} success`,
    ],
    [
      ['admin', 'POST', '/api/rules/try/history', { when: { fild: 'x' } }],
      'the-admin search:history {"when":{"fild":"x"}} failure',
    ],
    [
      ['operator', 'POST', '/api/streams/audit-logs/try/history', {}],
      'the-operator search:history streamId=audit-logs failure',
    ],
    [
      ['operator', 'POST', '/api/streams/try/history', { when }],
      `the-operator search:history {"when":${JSON.stringify(when)}} denied`,
    ],
    [
      ['operator', 'POST', '/api/rules/try/history', { when }],
      `the-operator search:history {"when":${JSON.stringify(when)}} denied`,
    ],
    [
      ['admin', 'GET', `/api/messages/${index}/${encodeURIComponent(id)}`],
      `the-admin search:message index=${index} messageId=${id} success`,
    ],
    [
      ['reader', 'GET', `/api/messages/${index}/${encodeURIComponent(id)}`],
      `the-reader search:message index=${index} messageId=${id} failure`,
    ],
    [['admin', 'GET', '/api/dead-letters'], 'the-admin search:dead_letters * success'],
    [
      ['admin', 'GET', '/api/dead-letters?query=code:X&limit=3'],
      'the-admin search:dead_letters code:X success',
      { limit: 3 },
    ],
    [['auditviewer', 'GET', '/api/dead-letters?query=code:X'], 'the-auditviewer search:dead_letters code:X denied'],
    [
      ['admin', 'GET', `/api/dead-letters/${encodeURIComponent(letterId)}`],
      `the-admin search:dead_letter letterId=${letterId} success`,
    ],
    [
      ['auditviewer', 'GET', `/api/dead-letters/${encodeURIComponent(letterId)}`],
      `the-auditviewer search:dead_letter letterId=${letterId} denied`,
    ],
    [['admin', 'GET', '/api/system/indexer/failures'], 'the-admin search:dead_letters * success'],
  ]);
});

t.test(
  'results of a search have the record of the search, and one of their own where somebody else reads them',
  async (t) => {
    const search = {
      queries: [
        {
          id: 'q',
          query: { query_string: 'container:pay' },
          timerange: { type: 'relative', range: 3600 },
          search_types: [{ id: 'm', type: 'messages' }],
        },
      ],
    };
    const { id } = (await whole.told('POST', '/api/views/search/sync', { as: 'operator', body: search })).body;
    const path = `/api/views/search/status/${String(id)}`;
    await expectRecords(t, whole, [
      [['operator', 'GET', path], ''],
      [
        ['admin', 'GET', path],
        new RegExp(`^the-admin search:results job=${String(id)} search=[0-9a-f]{24} owner=the-operator success$`),
      ],
      [['reader', 'GET', path], `the-reader search:results jobId=${String(id)} denied`],
    ]);
  },
);

t.test('a record says what was asked for, also where it was refused', async (t) => {
  const range = 'range=300&query=secret';
  await expectRecords(t, whole, [
    [
      ['operator', 'GET', `/api/search/universal/relative?${range}&filter=streams:audit-logs`],
      'the-operator search:execute secret denied',
      { filter: 'streams:audit-logs', range: 300 },
    ],
    [
      ['operator', 'GET', `/api/search/universal/relative/export?${range}&filter=streams:audit-logs`],
      'the-operator search:export secret denied',
      { filter: 'streams:audit-logs' },
    ],
    [
      ['operator', 'POST', '/api/search/messages', { query: 'secret', streams: ['audit-logs'] }],
      'the-operator search:execute secret denied',
      { streams: ['audit-logs'] },
    ],
    [
      ['operator', 'POST', '/api/views/search/messages', { query_string: 'secret', streams: ['audit-logs'] }],
      'the-operator search:export secret denied',
      { streams: ['audit-logs'] },
    ],
    [
      ['operator', 'GET', '/api/search/tail?query=secret&streams=audit-logs'],
      'the-operator search:tail secret denied',
      { streams: ['audit-logs'] },
    ],
    [
      ['admin', 'POST', '/api/views/search/messages', { query_string: 'container:pay', streams: ['all-messages'] }],
      'the-admin search:export container:pay success',
      { streams: ['all-messages'] },
    ],
    [['operator', 'POST', '/api/streams', { title: 'Shop' }], 'the-operator stream:create title=Shop denied'],
    [
      ['operator', 'POST', '/api/streams', { entity: { title: 'Shop\nx' } }],
      'the-operator stream:create title=Shop%0Ax denied',
    ],
    [
      ['admin', 'POST', '/api/streams', { title: 'Shop', rules: [{ type: 99 }] }],
      'the-admin stream:create title=Shop failure',
    ],
    [
      [
        'operator',
        'POST',
        '/api/system/outputs',
        { title: 'Away', type: 'gelf', configuration: { password: 'output-secret' } },
      ],
      'the-operator output:create title=Away denied',
    ],
    [
      ['operator', 'POST', '/api/system/inputs', { title: 'In', type: 'gelf_tcp' }],
      'the-operator input:create title=In denied',
    ],
    [
      ['operator', 'POST', '/api/system/indices/index_sets', { index_prefix: 'own', title: 'Own' }],
      'the-operator index_set:create title=Own index_prefix=own denied',
    ],
    [
      ['auditviewer', 'POST', '/api/dead-letters/replay', { code: 'X', limit: 3 }],
      'the-auditviewer dead_letter:replay denied',
      { code: 'X', limit: 3 },
    ],
    [
      ['auditviewer', 'POST', '/api/dead-letters/replay', { ids: ['one', 'two'] }],
      'the-auditviewer dead_letter:replay one two denied',
    ],
    [
      ['', 'POST', '/api/system/sessions', { username: 'mallory\nx', password: 'tried-secret' }],
      '- session:create user=mallory%0Ax denied',
    ],
    [
      ['operator', 'POST', '/api/system/grok', 'ONE a\nTWO b\n# three'],
      'the-operator grok_pattern:create ONE TWO denied',
      { patterns: 2 },
    ],
    [
      ['admin', 'POST', '/api/system/grok', 'ONE a\nTWO b\n# three'],
      'the-admin grok_pattern:create ONE TWO success',
      { patterns: 2 },
    ],
    [
      [
        'admin',
        'PUT',
        '/api/system/grok?import-strategy=REPLACE_ON_CONFLICT',
        { patterns: [{ name: 'ONE', pattern: 'c' }] },
      ],
      'the-admin grok_pattern:import ONE success',
      { 'import-strategy': 'REPLACE_ON_CONFLICT' },
    ],
    [
      [
        'admin',
        'POST',
        '/api/system/authentication/ldap/test-connection',
        { settings: { urls: ['ldap://binder:bind-secret@127.0.0.1:1'] } },
      ],
      'the-admin authentication:test ldap ldap://127.0.0.1:1 success',
      { succeeded: false },
    ],
    [
      [
        'operator',
        'POST',
        '/api/system/authentication/ldap/test-connection',
        { settings: { urls: ['ldap://127.0.0.1:1'] } },
      ],
      'the-operator authentication:test ldap ldap://127.0.0.1:1 denied',
    ],
    [
      ['admin', 'PUT', '/api/system/obfuscation', { enabled: true, patterns: [{ id: 'card', pattern: '[0-9]{16}' }] }],
      'the-admin obfuscation:update obfuscation success',
      { changed: ['enabled', 'patterns'], enabled: true, patterns: ['card'] },
    ],
    [
      ['admin', 'PUT', '/api/system/obfuscation', { enabled: false, replacement: '********' }],
      'the-admin obfuscation:update obfuscation success',
      { changed: ['enabled'], enabled: false },
    ],
    [
      ['operator', 'PUT', '/api/system/obfuscation', { enabled: false }],
      'the-operator obfuscation:update obfuscation denied',
      { given: ['enabled'] },
    ],
    [
      ['admin', 'DELETE', '/api/system/obfuscation'],
      'the-admin obfuscation:reset obfuscation success',
      { changed: ['patterns'], patterns: ['card'] },
    ],
  ]);
  t.notMatch(JSON.stringify(whole.recorded), /tried-secret|bind-secret|output-secret/);
});

t.test('who may not send a body is told so whatever it is', async (t) => {
  for (const [headers, body] of [
    [{ 'content-type': 'application/json' }, '{'],
    [{ 'content-type': 'application/xml' }, '<x/>'],
    [{ 'content-type': 'application/json' }, `"${'x'.repeat(5_000_000)}"`],
  ] as const) {
    const answer = await whole.ask('POST', '/api/streams', { as: 'operator', body, headers });
    t.match(answer, { statusCode: 403, body: /needs streams:create/ }, body.slice(0, 10));
  }
});

t.test('an ended session and a deleted token are named without their keys', async (t) => {
  const { session_id: session } = (
    await whole.told('POST', '/api/system/sessions', {
      as: '',
      body: { username: 'the-operator', password: 'Some-password-1' },
    })
  ).body;
  await expectRecords(t, whole, [
    [
      ['admin', 'DELETE', `/api/system/sessions/${String(session)}`],
      'the-admin session:delete user=the-operator success',
    ],
  ]);
  for (const by of ['id', 'token']) {
    const {
      [by]: key = '',
      id,
      token,
    } = (await whole.told('POST', '/api/users/the-operator/tokens/robot')).body as Record<string, string>;
    await expectRecords(t, whole, [
      [
        ['reader', 'DELETE', `/api/users/the-operator/tokens/${key}`],
        `the-reader token:delete username=the-operator${by === 'id' ? ` id=${key}` : ''} denied`,
      ],
      [
        ['admin', 'DELETE', `/api/users/the-operator/tokens/${key}`],
        `the-admin token:delete username=the-operator id=${id ?? ''} name=robot success`,
      ],
    ]);
    t.notMatch(JSON.stringify(whole.recorded), new RegExp(token ?? 'x'));
  }
});
