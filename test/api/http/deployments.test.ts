/** The calls that existing deployments make, against the real program, with the statuses that they insist on; and what these calls leave in Audit logs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startProgram, testFolder, until } from '../../program.js';

const passwords = { Admin: 'admin-first-password', Operator: 'operator-first-password' } as const;
const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
const id = (digit: string): string => digit.repeat(24);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

interface Deployer {
  send(method: string, path: string, body: unknown, wanted: readonly number[]): Promise<Answer>;
  listed(path: string, key?: string): Promise<readonly Record<string, unknown>[]>;
  put(
    path: string,
    title: string,
    body: unknown,
    created: readonly number[],
    changed: readonly number[],
    key?: string,
  ): Promise<string>;
  readonly round: 'first' | 'second';
}

const routed = ['Audit', 'System', 'Integration', 'Access', 'Nginx', 'Kubernetes events', 'Bill Cycle'].map(
  (kind) => `Route ${kind} logs`,
);
const billRule = (stream: string): string => `rule "Route Bill Cycle logs"
when
  has_field("nc_bill_cycle_label") || regex("var\\\\.log\\\\.bill-cycle\\\\.log$", to_string($message.tag)).matches == true
then
  route_to_stream(id: "${stream}", remove_from_default: true);
end`;
const otherRule = (name: string, title: string): string => `rule "${name}"
when
  to_bool($message.never_set) == true || to_string($message.logType) == "none of these" || contains(to_string($message.pod), "no-such-pod")
then
  route_to_stream(name: "${title}", remove_from_default: true);
end`;
const labelsRule = `rule "Processing labels"
when
  has_field("more_labels")
then
  let text = regex_replace("/", to_string($message.more_labels), "_");
  let labels = parse_json(text);
  set_fields(to_map(labels));
  remove_field("more_labels");
end`;

async function deployInputs(t: Test, { send, listed, put, round }: Deployer): Promise<void> {
  const input = await put(
    '/api/system/inputs',
    'input-12202',
    {
      title: 'input-12202',
      type: 'org.graylog2.inputs.gelf.tcp.GELFTCPInput',
      global: true,
      node: null,
      configuration: {
        bind_address: '127.0.0.1',
        port: 0,
        recv_buffer_size: 1048576,
        use_null_delimiter: true,
        max_message_size: 2097152,
        decompress_size_limit: 8388608,
        tcp_keepalive: false,
        tls_enable: false,
        tls_cert_file: '',
        tls_key_file: '',
        tls_key_password: '',
        tls_client_auth: 'disabled',
        tls_client_auth_cert_file: '',
        number_worker_threads: 2,
        override_source: null,
      },
    },
    [201],
    [201],
    'inputs',
  );
  await send('GET', `/api/system/inputstates/${input}`, undefined, [200]);
  for (const name of ['LOGHEADING', 'LEVELWORD'])
    if (round === 'first')
      await send(
        'POST',
        '/api/system/grok',
        { name, pattern: name === 'LEVELWORD' ? '(?>TRACE|DEBUG|INFO|WARN|ERROR)' : '\\[%{TIMESTAMP_ISO8601}\\]' },
        [201],
      );
  t.ok((await listed('/api/system/grok', 'patterns')).length >= 2);
  const extractor = { cut_or_copy: 'copy', converters: {}, condition_type: 'none', condition_value: '', order: 0 };
  const base = `/api/system/inputs/${input}/extractors`;
  await put(
    base,
    'docker',
    {
      ...extractor,
      title: 'docker',
      source_field: 'docker',
      target_field: '',
      extractor_type: 'json',
      extractor_config: {
        flatten: false,
        list_separator: ', ',
        kv_separator: '=',
        key_prefix: '',
        key_separator: '-',
        replace_key_whitespace: false,
        key_whitespace_replacement: '_',
      },
    },
    [201],
    [200],
    'extractors',
  );
  await put(
    base,
    'level',
    {
      ...extractor,
      title: 'level',
      source_field: 'message',
      target_field: '',
      extractor_type: 'grok',
      extractor_config: { grok_pattern: '^%{LOGHEADING}\\[%{LEVELWORD:loglevel_name}\\]', named_captures_only: true },
    },
    [201],
    [200],
    'extractors',
  );
  const time = await put(
    base,
    'time',
    {
      ...extractor,
      title: 'time',
      source_field: 'event_time',
      target_field: 'timestamp',
      extractor_type: 'substring',
      extractor_config: { begin_index: 0, end_index: 23 },
      converters: { date: { date_format: "yyyy-MM-dd'T'HH:mm:ss,SSS", time_zone: 'UTC', locale: 'en' } },
    },
    [201],
    [200],
    'extractors',
  );
  await send('GET', `${base}/${time}`, undefined, [200]);
  if (round === 'second') await send('DELETE', `${base}/${time}`, undefined, [204]);
}

async function deploy(t: Test, deployer: Deployer): Promise<void> {
  const { send, listed, put, round } = deployer;
  await deployInputs(t, deployer);
  const sets = await listed('/api/system/indices/index_sets', 'index_sets');
  const set = sets.find(({ index_prefix: prefix }) => prefix === 'restored')?.['id'];
  const streams = new Map<string, string>();
  for (const title of ['Nginx logs', 'Kubernetes events', 'Bill Cycle logs']) {
    const id = await put(
      '/api/streams',
      title,
      {
        title,
        description: `${title} from nodes`,
        matching_type: 'AND',
        index_set_id: set,
        rules: [],
        remove_matches_from_default_stream: false,
      },
      [201],
      [200],
      'streams',
    );
    await send('POST', `/api/streams/${id}/resume`, undefined, [204]);
    streams.set(title, id);
  }
  const titles = [
    'Audit logs',
    'System logs',
    'Integration logs',
    'Access logs',
    'Nginx logs',
    'Kubernetes events',
    'Bill Cycle logs',
  ];
  const sources = [
    ...routed.slice(0, -1).map((name, place) => otherRule(name, titles[place] as string)),
    billRule(streams.get('Bill Cycle logs') as string),
    labelsRule,
    'rule "Remove kubernetes" when has_field("kubernetes") then remove_field("kubernetes"); end',
  ];
  const names = sources.map((source) => /"([^"]+)"/.exec(source)?.[1] as string);
  for (const [place, source] of sources.entries())
    await put(
      '/api/system/pipelines/rule',
      names[place] as string,
      { title: names[place], description: '', source },
      [200, 201],
      [200, 201],
    );
  const source = `pipeline "Logs routing"\nstage 0 match either\n${names.map((name) => `rule "${name}"`).join('\n')}\nend`;
  const pipeline = await put(
    '/api/system/pipelines/pipeline',
    'Logs routing',
    { title: 'Logs routing', description: '', source },
    [200],
    [200],
  );
  await send('POST', '/api/system/pipelines/rule/parse', { source: labelsRule }, [200]);
  await send(
    'POST',
    '/api/system/pipelines/connections/to_stream',
    { stream_id: '000000000000000000000001', pipeline_ids: [pipeline] },
    [200],
  );
  t.match(await listed('/api/system/pipelines/connections'), [
    { stream_id: '000000000000000000000001', pipeline_ids: [pipeline] },
  ]);
  t.equal(
    (await listed('/api/system/pipelines/rule')).every(({ in_force: inForce }) => inForce === true),
    true,
  );
  const pack = {
    v: '1',
    id: 'b1f8a0c2-0000-4000-8000-000000000001',
    rev: 1,
    name: 'Dashboards',
    summary: '',
    description: '',
    vendor: '',
    url: '',
    parameters: [],
    entities: [
      {
        v: '1',
        type: { name: 'dashboard', version: '2' },
        id: 'd1',
        data: {
          title: { '@type': 'string', '@value': 'Sources by Service' },
          summary: { '@type': 'string', '@value': '' },
          search: {
            queries: [
              {
                id: 'q1',
                timerange: { type: 'relative', range: 300 },
                query: { type: 'elasticsearch', query_string: '' },
                search_types: [],
              },
            ],
            parameters: [],
          },
          properties: [],
          state: {},
        },
      },
    ],
  };
  if (round === 'second') await send('DELETE', `/api/system/content_packs/${pack.id}`, undefined, [409]);
  else {
    await send('POST', '/api/system/content_packs', pack, [201]);
    const installed = await send(
      'POST',
      `/api/system/content_packs/${pack.id}/1/installations`,
      { parameters: {}, comment: '' },
      [200],
    );
    t.match(installed.body, { entities: [{ type: 'dashboard', title: 'Sources by Service' }], skipped_entities: [] });
  }
  t.ok((await listed('/api/dashboards', 'elements')).some(({ title }) => title === 'Sources by Service'));
}

await t.test('calls of deployments', { timeout: 180_000 }, async (t) => {
  const folder = testFolder(t);
  const views = join(folder, 'views');
  mkdirSync(views);
  writeFileSync(
    join(views, 'own-search.json'),
    JSON.stringify({
      id: id('e'),
      queries: [
        { query: { type: 'elasticsearch', query_string: 'kind:own' }, timerange: { type: 'relative', range: 300 } },
      ],
    }),
  );
  writeFileSync(
    join(views, 'own-view.json'),
    JSON.stringify({ id: id('f'), type: 'SEARCH', title: 'From a file', search_id: id('e') }),
  );
  writeFileSync(join(views, 'wrong-view.json'), '{"id":"x"}');
  const program = await startProgram(t, {
    folder,
    settings: {
      api: { port: 0, views_folder: views },
      access: {
        first_passwords: {
          admin: passwords.Admin,
          operator: passwords.Operator,
          audit_viewer: 'viewer-first-password',
        },
      },
      processing: { wait_for_more_ms: 50 },
      receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }],
    },
  });
  const port = Number(/API +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.output())?.[1]);
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { authorization: basic('Admin', passwords.Admin) },
  ): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        'x-requested-by': 'deployer',
        'user-agent': 'deployer/1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      text,
      body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  };

  await t.test('statuses', async (t) => {
    await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, {
      method: 'POST',
      body: '{"host":"h","short_message":"payment accepted","_container":"pay","_pod":"pay-1"}',
    });
    const search = {
      id: id('a'),
      queries: [
        {
          id: '00000000-0000-4000-8000-000000000001',
          timerange: { type: 'relative', range: 300 },
          query: { type: 'elasticsearch', query_string: 'message:CEF AND (LOGIN OR LOGOUT)' },
        },
      ],
    };
    const view = { id: id('b'), type: 'SEARCH', title: 'Sessions', summary: '', description: '', search_id: id('a') };
    const indexSet = {
      title: 'Restored',
      description: '',
      index_prefix: 'restored',
      shards: 1,
      replicas: 0,
      rotation_strategy_class: 'org.graylog2.indexer.rotation.strategies.SizeBasedRotationStrategy',
      rotation_strategy: {
        type: 'org.graylog2.indexer.rotation.strategies.SizeBasedRotationStrategyConfig',
        max_size: 1073741824,
      },
      retention_strategy_class: 'org.graylog2.indexer.retention.strategies.DeletionRetentionStrategy',
      retention_strategy: {
        type: 'org.graylog2.indexer.retention.strategies.DeletionRetentionStrategyConfig',
        max_number_of_indices: 4,
      },
      index_analyzer: 'standard',
      index_optimization_max_num_segments: 1,
      index_optimization_disabled: false,
      field_type_refresh_interval: 5000,
      writable: true,
    };
    const rows: readonly (readonly [
      method: string,
      path: string,
      body: unknown,
      status: number | readonly number[],
    ])[] = [
      ['GET', '/', undefined, 200],
      ['GET', '/api', undefined, 200],
      ['GET', '/api/none', undefined, 404],
      ['POST', '/api/api/views/search', search, 404],
      ['POST', '/api/views/search', search, 201],
      ['POST', '/api/views/search', search, 201],
      ['POST', '/api/views', view, [200, 201]],
      ['GET', '/api/views', undefined, 200],
      ['DELETE', `/api/views/${id('b')}`, undefined, [200, 204]],
      ['POST', '/api/views', { entity: view }, [200, 201]],
      ['POST', '/api/views', view, [200, 201]],
      ['POST', '/api/views', { ...view, id: id('c'), search_id: id('d') }, 400],
      ['GET', '/api/search/universal/relative?query=*&range=3600&limit=50&sort=timestamp:desc', undefined, 200],
      [
        'GET',
        '/api/search/universal/relative?query=pod:%22pay-1%22%20AND%20message:%22payment%22%20NOT%20message:%22templates%22&range=3600&limit=50',
        undefined,
        200,
      ],
      [
        'POST',
        '/api/search/aggregate',
        {
          query: '*',
          timerange: { type: 'keyword', keyword: 'last five minutes' },
          streams: [],
          group_by: [{ field: 'source', limit: 5 }],
          metrics: [{ function: 'count', field: 'message', sort: 'desc' }],
        },
        200,
      ],
      ['GET', '/api/system/fields', undefined, 200],
      ['GET', '/api/roles/none', undefined, 404],
      ['GET', '/api/users/none', undefined, 404],
      [
        'POST',
        '/api/roles',
        {
          name: 'Watcher',
          description: 'Watches',
          permissions: ['streams:read:000000000000000000000001'],
          read_only: false,
        },
        201,
      ],
      [
        'PUT',
        '/api/roles/Watcher',
        { name: 'Watcher', description: 'Still watches', permissions: ['streams:read:000000000000000000000001'] },
        200,
      ],
      [
        'PUT',
        '/api/roles/operator',
        {
          name: 'Operator',
          description: 'Operator',
          permissions: ['streams:read:000000000000000000000001', 'view:read:5f1f6a2b3c4d5e6f7a8b9c0d'],
          read_only: true,
        },
        200,
      ],
      [
        'POST',
        '/api/users',
        {
          username: 'api_th_user',
          password: 'a-long-random-password',
          email: 'a@example.com',
          first_name: 'A',
          last_name: 'B',
          roles: ['Admin'],
          permissions: [],
        },
        201,
      ],
      [
        'POST',
        '/api/users',
        {
          username: 'watcher',
          password: 'watcher-password',
          email: 'watcher@example.com',
          first_name: 'W',
          last_name: 'X',
          roles: ['Watcher'],
          permissions: [],
          session_timeout_ms: 3600000,
        },
        201,
      ],
      ['PUT', '/api/users/watcher', { email: 'w@example.com' }, 204],
      ['GET', '/api/streams', undefined, 200],
      ['GET', '/api/cluster', undefined, 200],
      ['GET', '/api/system/indexer/cluster/health', undefined, 200],
      ['GET', '/api/system/indexer/indices', undefined, 200],
      ['GET', '/api/system/indexer/indices/open', undefined, 200],
      ['GET', '/api/system/indexer/failures?limit=10&offset=0', undefined, 200],
      ['GET', '/api/system/indices/index_sets', undefined, 200],
      ['GET', '/api/system/indices/index_sets/stats', undefined, 200],
      ['GET', '/api/metrics/prometheus', undefined, 200],
      ['POST', '/api/system/indices/index_sets', indexSet, 200],
      ['PUT', '/api/system/indices/index_sets/restored', { ...indexSet, title: 'Restored index set' }, 200],
      [
        'PUT',
        '/api/system/indices/index_sets/sluice_default',
        { ...indexSet, title: 'Default index set', index_prefix: 'graylog' },
        200,
      ],
      ['PUT', '/api/system/indices/index_sets/restored', { ...indexSet, index_prefix: 'other' }, 400],
    ];
    for (const [method, path, body, wanted] of rows) {
      const { status, text } = await call(method, path, body);
      t.ok([wanted].flat().includes(status), `${method} ${path}: ${status} ${text.slice(0, 300)}`);
    }
    t.equal(
      (
        await fetch(`http://127.0.0.1:${port}/api/views/search`, {
          method: 'POST',
          headers: { authorization: basic('Admin', passwords.Admin), 'content-type': 'application/json' },
          body: '{}',
        })
      ).status,
      400,
      'a change without X-Requested-By',
    );
    t.equal((await call('GET', '/api/streams', undefined, {})).status, 401);
  });

  await t.test(
    'the deployer: inputs with extractors, grok patterns, index sets, streams, rules, a pipeline, its connection, a content pack; then all of it again',
    async (t) => {
      const send = async (method: string, path: string, body: unknown, wanted: readonly number[]): Promise<Answer> => {
        const answer = await call(method, path, body);
        t.ok(wanted.includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
        return answer;
      };
      const listed = async (path: string, key?: string): Promise<readonly Record<string, unknown>[]> => {
        const { text } = await send('GET', path, undefined, [200]);
        const body = JSON.parse(text) as unknown;
        return (key === undefined ? body : (body as Record<string, unknown>)[key]) as readonly Record<
          string,
          unknown
        >[];
      };
      /** As deployers do: what is there by its title is changed, what is not is made. */
      const put = async (
        path: string,
        title: string,
        body: unknown,
        created: readonly number[],
        changed: readonly number[],
        key?: string,
      ): Promise<string> => {
        const known = (await listed(path, key)).find((one) => one['title'] === title);
        const answer =
          known === undefined
            ? await send('POST', path, body, created)
            : await send('PUT', `${path}/${String(known['id'])}`, body, changed);
        return String(known?.['id'] ?? answer.body['id'] ?? answer.body['stream_id'] ?? answer.body['extractor_id']);
      };
      for (const round of ['first', 'second'] as const) await deploy(t, { send, listed, put, round });
      const sent = async (fields: string): Promise<Response> =>
        fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, {
          method: 'POST',
          body: `{"host":"h","short_message":"deployed",${fields}}`,
        });
      await sent('"_tag":"cloud.bill","_nc_bill_cycle_label":"true","_kubernetes":"{}"');
      await sent('"_tag":"plain","_more_labels":"{\\"a/b\\":\\"c\\"}"');
      const stored = await until(
        async () => {
          const found = await call('GET', '/api/search/universal/relative?query=deployed&range=3600&fields=*');
          const messages = ((found.body['messages'] ?? []) as { message: Record<string, unknown> }[]).map(
            ({ message }) => message,
          );
          return messages.length >= 2 ? messages : undefined;
        },
        60_000,
        () => program.output(),
      );
      const streams = await listed('/api/streams', 'streams');
      const bill = streams.find(({ title }) => title === 'Bill Cycle logs')?.['id'];
      const billed = stored.find(({ tag }) => tag === 'cloud.bill') as Record<string, unknown>;
      const plain = stored.find(({ tag }) => tag === 'plain') as Record<string, unknown>;
      t.same(billed['streams'], [bill], 'routed, and removed from the default stream');
      t.equal(billed['kubernetes'], undefined);
      t.match(plain, { a_b: 'c' }, 'labels are fields');
    },
  );

  await t.test('what files say is there after the start, and what ships', async (t) => {
    const { body } = await call('GET', '/api/search/saved');
    const titles = (body['elements'] as { title: string }[]).map(({ title }) => title);
    for (const title of ['Cloud events', 'User session history', 'From a file']) t.ok(titles.includes(title), title);
    t.match(program.output(), /wrong-view\.json.*cannot be used/);
    const run = await call('POST', '/api/views/search/sync', {
      queries: [
        {
          id: 'q',
          query: { query_string: 'payment' },
          timerange: { type: 'relative', range: 3600 },
          search_types: [
            { id: 'a', type: 'messages' },
            {
              id: 'b',
              type: 'pivot',
              row_groups: [{ type: 'time', fields: ['timestamp'], interval: { type: 'auto' } }],
              series: [{ type: 'count' }],
              rollup: true,
            },
          ],
        },
      ],
    });
    t.match(run.body, {
      results: {
        q: { state: 'COMPLETED', errors: [], search_types: { a: { type: 'messages' }, b: { type: 'pivot' } } },
      },
    });
  });

  await t.test(
    'a login, its failure, a change of password and a logout are found in Audit logs, by those who may',
    async (t) => {
      const failed = await call(
        'POST',
        '/api/system/sessions',
        { username: 'Operator', password: 'wrong', host: '' },
        {},
      );
      t.equal(failed.status, 401);
      const opened = await call(
        'POST',
        '/api/system/sessions',
        { username: 'Operator', password: passwords.Operator, host: '' },
        {},
      );
      t.equal(opened.status, 200);
      const session = String(opened.body['session_id']);
      t.equal(
        (await call('GET', '/api/users/Operator', undefined, { authorization: basic(session, 'session') })).status,
        200,
      );
      t.equal(
        (
          await call('DELETE', `/api/system/sessions/${session}`, undefined, {
            authorization: basic(session, 'session'),
          })
        ).status,
        204,
      );
      t.equal(
        (await call('GET', '/api/users/Operator', undefined, { authorization: basic(session, 'session') })).status,
        401,
      );
      t.equal(
        (
          await call(
            'PUT',
            '/api/users/Operator/password',
            { old_password: passwords.Operator, password: 'operator-next-password' },
            { authorization: basic('Operator', passwords.Operator) },
          )
        ).status,
        204,
      );
      const lines = await until(
        async () => {
          const { body } = await call(
            'GET',
            '/api/search/universal/relative?query=container:sluice&range=3600&limit=500&filter=streams:audit-logs&sort=timestamp:asc',
          );
          const texts = ((body['messages'] ?? []) as { message: { message: string; receiver: string } }[])
            .filter(({ message }) => message.receiver === 'audit')
            .map(({ message }) => message.message);
          return texts.some((text) => text.includes('/password" deployer/1 204 -1')) ? texts : undefined;
        },
        60_000,
        () => program.output(),
      );
      for (const want of [
        /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3}\]\[DEBUG\]127\.0\.0\.1 - \[-\] "POST api\/system\/sessions" deployer\/1 401 -1$/,
        /^\[[^\]]+\]\[INFO\]Invalid credentials in session create request\. Actor: "urn:\w+:user:Operator"$/,
        /^\[[^\]]+\]\[DEBUG\]127\.0\.0\.1 - \[-\] "POST api\/system\/sessions" deployer\/1 200 -1$/,
        /^\[[^\]]+\]\[DEBUG\]127\.0\.0\.1 Operator \[-\] "GET api\/users\/Operator" deployer\/1 200 -1$/,
        new RegExp(
          `^\\[[^\\]]+\\]\\[DEBUG\\]127\\.0\\.0\\.1 Operator \\[-\\] "DELETE api/system/sessions/${session}" deployer/1 204 -1$`,
        ),
        /^\[[^\]]+\]\[DEBUG\]127\.0\.0\.1 Operator \[-\] "PUT api\/users\/Operator\/password" deployer\/1 204 -1$/,
        /^audit: Admin view:create view=b{24} Sessions success$/,
      ])
        t.ok(
          lines.some((line) => want.test(line)),
          `${want}\n${lines.join('\n')}`,
        );
      const asOperator = { authorization: basic('Operator', 'operator-next-password') };
      t.equal(
        (
          await call(
            'GET',
            '/api/search/universal/relative?query=*&range=3600&filter=streams:audit-logs',
            undefined,
            asOperator,
          )
        ).status,
        403,
      );
      const { body } = await call(
        'GET',
        '/api/search/universal/relative?query=container:sluice&range=3600',
        undefined,
        asOperator,
      );
      t.equal(body['total_results'], 0, 'nothing of it for those who may not read Audit logs');
    },
  );
  t.equal(await program.end(), 0);
});
