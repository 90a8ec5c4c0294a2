/** Which requests leave an audit record, and what the record says. */
import t, { type Test } from 'tap';
import { startWhole, type Whole } from '../whole.js';

const whole = await startWhole(t);

type Asked = readonly [as: string, method: string, path: string, body?: unknown];

/** What the request left: `<actor> <action> <object> <outcome>`, and the details. */
async function recordOf(
  world: Whole,
  [as, method, path, body]: Asked,
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
  rows: readonly (readonly [request: Asked, text: string | RegExp, details?: unknown])[],
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
