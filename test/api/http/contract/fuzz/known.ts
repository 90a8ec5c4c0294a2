/**
 * Names and ids of what really exists, read from the lists of the API, and examples for members whose schema says
 * little.
 */
import type { Asker } from '../asking.js';
import type { Description } from '../described.js';

export interface Known {
  /** Reads the lists anew. */
  refresh(): Promise<void>;
  /** For a member of a body, or a parameter of the query. */
  examples(name: string): readonly unknown[] | undefined;
  /** For a parameter of a path, by the path before it. */
  ids(prefix: string): readonly string[];
}

const conditions = [
  { always: true },
  { field: 'app', equals: 'shop' },
  {
    any: [
      { field: 'a', contains: 'b' },
      { field: 'b', exists: true },
    ],
  },
  { not: { field: 'a', regex: 'x+' } },
  { field: 'level', less: 4 },
  { all: [] },
  { field: 'a' },
  {},
];
const actions = [
  { set: { field: 'team', value: 'red' } },
  { drop: {} },
  { route: { stream: 'system-logs' } },
  { remove: { field: 'a' } },
  { rename: { from: 'a', to: 'b' } },
  { set: {} },
  {},
];
const messages = [
  { source: 'a', message: 'x', app: 'shop' },
  { version: '1.1', host: 'a', short_message: 'b', _app: 'orders' },
  {},
  { message: 5 },
  { timestamp: 'never', message: 'x' },
];
const fixed: Readonly<Record<string, readonly unknown[]>> = {
  when: conditions,
  then: actions,
  message: messages,
  configuration: [
    {},
    { host: '127.0.0.1', port: 0 },
    { hostname: '127.0.0.1', port: 9, protocol: 'TCP' },
    { colour: 'red' },
    { tls: { enabled: true } },
    { gelf: { token: 'x' } },
    { framing: 'newline', max_frame_bytes: 1_000 },
  ],
  query_string: ['container:pay', '*', 'a AND (', 'level:[1 TO 5]', '_exists_:app', 'message:/x+/', ''],
  keyword: ['last five minutes', 'yesterday', 'today to now', 'once'],
  timerange: [
    { type: 'relative', range: 300 },
    { type: 'keyword', keyword: 'today' },
    { type: 'absolute', from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' },
  ],
  row_groups: [
    { type: 'values', fields: ['source'] },
    { type: 'time', fields: ['timestamp'], interval: { type: 'auto' } },
    { type: 'time', field: 'timestamp', interval: { type: 'timeunit', timeunit: '1h' } },
    {},
  ],
  column_groups: [{ type: 'values', fields: ['level'] }, {}],
  series: [
    { type: 'count' },
    { type: 'percentile', field: 'level', percentile: 95 },
    { type: 'avg', field: 'size' },
    {},
  ],
  group_by: [{ field: 'source' }, { field: 'timestamp', granularity: '5m' }],
  metrics: ['count', 'avg:level', { function: 'count' }, { function: 'max', field: 'level' }],
  groups: ['source', 'level:2'],
  function: ['count', 'avg', 'percentile', 'latest'],
  granularity: ['1h', '5m', 'x'],
  interval: ['1h'],
  type: ['GELF', 'SYSLOG', 'gelf_tcp', 'gelf_udp', 'gelf_http', 'messages', 'pivot', 'relative', 'exact', 1, 6],
  rotation_strategy_class: ['size', 'count', 'time'],
  retention_strategy_class: ['delete', 'close', 'none'],
  rotation_period: ['P1D', 'PT1H', 'x'],
  max_size: [1_000_000, '1 GB', 'x'],
  filter: ['*', 'streams:all-messages', { type: 'or', filters: [{ type: 'stream', id: 'all-messages' }] }, {}],
  title: ['Shop', 'Orders', 'x'],
  password: ['Some-password-2', 'x'],
  permissions: ['streams:read:all-messages', 'streams:edit:system-logs', '*', 'views:edit'],
  session_timeout_ms: [3_600_000, 1, -1],
  token_ttl: ['P1D', 'PT0S', 'x'],
  pattern: ['\\d{3}', '(', '[a-z]+'],
  receiver: ['gelf-tcp', 'none'],
  file: ['start.js', 'swagger-ui.css', 'none'],
  plugin: ['org.example.x'],
  bind_password: ['secret'],
  search_base: ['dc=x'],
  search_filter: ['(uid={user})', '('],
};
/** Lists that the members of bodies name entries of. */
const listsOf: Readonly<Record<string, readonly string[]>> = {
  streams: ['/api/streams'],
  entity_ids: ['/api/streams'],
  stream: ['/api/streams'],
  index_set_id: ['/api/system/indices/index_sets'],
  index_set: ['/api/system/indices/index_sets'],
  outputs: ['/api/system/outputs'],
  roles: ['/api/roles'],
  search_id: ['/api/views'],
  username: ['/api/users'],
  ids: ['/api/dead-letters'],
};

export function createKnown(asker: Asker, description: Description, authorization: string): Known {
  const lists = new Map<string, readonly string[]>();
  const prefixes = [
    ...new Set(
      description.operations.flatMap(({ path }) =>
        [...path.matchAll(/\/\{/g)].map(({ index }) => path.slice(0, index)),
      ),
    ),
  ].filter((path) => !path.includes('{'));
  return {
    async refresh() {
      for (const path of prefixes) {
        if (description.find('GET', path) === undefined) continue;
        const answer = await asker.ask({ method: 'GET', path, headers: { authorization } });
        if (answer.status === 200 && String(answer.headers['content-type']).startsWith('application/json'))
          lists.set(path, idsIn(JSON.parse(answer.body)).slice(0, 200));
      }
      const indices = await asker.ask({
        method: 'GET',
        path: '/api/system/indexer/indices',
        headers: { authorization },
      });
      lists.set(
        '/api/messages',
        indices.status === 200 ? Object.keys((JSON.parse(indices.body) as { indices: object }).indices) : [],
      );
      lists.set('/api/system/indexer/indices', lists.get('/api/messages') ?? []);
      lists.set('/api/system/inputstates', lists.get('/api/system/inputs') ?? []);
      lists.set('/api/system/deflector', lists.get('/api/system/indices/index_sets') ?? []);
      lists.set('/api/users/id', lists.get('/api/users') ?? []);
    },
    examples: (name) => fixed[name] ?? listsOf[name]?.flatMap((path) => lists.get(path) ?? []),
    ids: (prefix) => lists.get(prefix) ?? [],
  };
}

/** Users that the requests themselves are made with stay out of it. */
const untouchable = /^the-/;

function idsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(idsIn);
  const members = value as Record<string, unknown>;
  const { username } = members;
  if (typeof username === 'string' && untouchable.test(username)) return [];
  const own = ['id', 'name', 'username', 'search_id'].flatMap((key) =>
    typeof members[key] === 'string' ? [members[key]] : [],
  );
  return [
    ...own,
    ...Object.values(members)
      .filter((inner) => typeof inner === 'object')
      .flatMap(idsIn),
  ];
}
