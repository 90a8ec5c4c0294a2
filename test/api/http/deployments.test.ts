/** The calls that existing deployments make, against the real program, with the statuses that they insist on; and what these calls leave in Audit logs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startProgram, testFolder, until } from '../../program.js';

const passwords = { Admin: 'admin-first-password', Operator: 'operator-first-password' } as const;
const basic = (name: string, password: string): string => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
const id = (digit: string): string => digit.repeat(24);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

await t.test('calls of deployments', { timeout: 180_000 }, async (t) => {
  const folder = testFolder(t);
  const views = join(folder, 'views');
  mkdirSync(views);
  writeFileSync(join(views, 'own-search.json'), JSON.stringify({ id: id('e'), queries: [{ query: { type: 'elasticsearch', query_string: 'kind:own' }, timerange: { type: 'relative', range: 300 } }] }));
  writeFileSync(join(views, 'own-view.json'), JSON.stringify({ id: id('f'), type: 'SEARCH', title: 'From a file', search_id: id('e') }));
  writeFileSync(join(views, 'wrong-view.json'), '{"id":"x"}');
  const program = await startProgram(t, {
    folder, settings: { api: { port: 0, views_folder: views }, access: { first_passwords: { admin: passwords.Admin, operator: passwords.Operator, audit_viewer: 'viewer-first-password' } }, processing: { wait_for_more_ms: 50 }, receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }] },
  });
  const port = Number(/API +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.output())?.[1]);
  const call = async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = { authorization: basic('Admin', passwords.Admin) }): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { 'x-requested-by': 'deployer', 'user-agent': 'deployer/1', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await answer.text();
    return { status: answer.status, text, body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} };
  };

  await t.test('statuses', async (t) => {
    await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, { method: 'POST', body: '{"host":"h","short_message":"payment accepted","_container":"pay","_pod":"pay-1"}' });
    const described = (await call('GET', '/api/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
    const served = (method: string, path: string): boolean => Object.entries(described.paths).some(([pattern, methods]) => method.toLowerCase() in methods && new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] as string));
    const search = { id: id('a'), queries: [{ id: '00000000-0000-4000-8000-000000000001', timerange: { type: 'relative', range: 300 }, query: { type: 'elasticsearch', query_string: 'message:CEF AND (LOGIN OR LOGOUT)' } }] };
    const view = { id: id('b'), type: 'SEARCH', title: 'Sessions', summary: '', description: '', search_id: id('a') };
    const indexSet = { title: 'Restored', description: '', index_prefix: 'restored', shards: 1, replicas: 0, rotation_strategy_class: 'org.graylog2.indexer.rotation.strategies.SizeBasedRotationStrategy', rotation_strategy: { type: 'org.graylog2.indexer.rotation.strategies.SizeBasedRotationStrategyConfig', max_size: 1073741824 }, retention_strategy_class: 'org.graylog2.indexer.retention.strategies.DeletionRetentionStrategy', retention_strategy: { type: 'org.graylog2.indexer.retention.strategies.DeletionRetentionStrategyConfig', max_number_of_indices: 4 }, index_analyzer: 'standard', index_optimization_max_num_segments: 1, index_optimization_disabled: false, field_type_refresh_interval: 5000, writable: true };
    const rows: readonly (readonly [method: string, path: string, body: unknown, status: number | readonly number[]])[] = [
      ['GET', '/', undefined, 200], ['GET', '/api', undefined, 200], ['GET', '/api/none', undefined, 404], ['POST', '/api/api/views/search', search, 404],
      ['POST', '/api/views/search', search, 201], ['POST', '/api/views/search', search, 201], ['POST', '/api/views', view, [200, 201]], ['GET', '/api/views', undefined, 200], ['DELETE', `/api/views/${id('b')}`, undefined, [200, 204]],
      ['POST', '/api/views', { entity: view }, [200, 201]], ['POST', '/api/views', view, [200, 201]], ['POST', '/api/views', { ...view, id: id('c'), search_id: id('d') }, 400],
      ['GET', '/api/search/universal/relative?query=*&range=3600&limit=50&sort=timestamp:desc', undefined, 200], ['GET', '/api/search/universal/relative?query=pod:%22pay-1%22%20AND%20message:%22payment%22%20NOT%20message:%22templates%22&range=3600&limit=50', undefined, 200],
      ['POST', '/api/search/aggregate', { query: '*', timerange: { type: 'keyword', keyword: 'last five minutes' }, streams: [], group_by: [{ field: 'source', limit: 5 }], metrics: [{ function: 'count', field: 'message', sort: 'desc' }] }, 200],
      ['GET', '/api/system/fields', undefined, 200], ['GET', '/api/roles/none', undefined, 404], ['GET', '/api/users/none', undefined, 404],
      ['POST', '/api/roles', { name: 'Watcher', description: 'Watches', permissions: ['streams:read:000000000000000000000001'], read_only: false }, 201], ['PUT', '/api/roles/Watcher', { name: 'Watcher', description: 'Still watches', permissions: ['streams:read:000000000000000000000001'] }, 200],
      ['POST', '/api/users', { username: 'watcher', password: 'watcher-password', email: 'watcher@example.com', first_name: 'W', last_name: 'X', roles: ['Watcher'], permissions: [], session_timeout_ms: 3600000 }, 201], ['PUT', '/api/users/watcher', { email: 'w@example.com' }, 204],
      ['GET', '/api/streams', undefined, 200], ['GET', '/api/cluster', undefined, 200], ['GET', '/api/system/indexer/cluster/health', undefined, 200], ['GET', '/api/system/indexer/indices', undefined, 200], ['GET', '/api/system/indexer/indices/open', undefined, 200],
      ['GET', '/api/system/indexer/failures?limit=10&offset=0', undefined, 200], ['GET', '/api/system/indices/index_sets', undefined, 200], ['GET', '/api/system/indices/index_sets/stats', undefined, 200], ['GET', '/api/metrics/prometheus', undefined, 200],
      ['POST', '/api/system/indices/index_sets', indexSet, 200],
    ];
    for (const [method, path, body, wanted] of rows) {
      if (![404].includes(wanted as number) && path !== '/' && !served(method, path)) {
        t.comment(`left out, since it is not served: ${method} ${path}`);
        continue;
      }
      const { status, text } = await call(method, path, body);
      t.ok([wanted].flat().includes(status), `${method} ${path}: ${status} ${text.slice(0, 300)}`);
    }
    t.equal((await fetch(`http://127.0.0.1:${port}/api/views/search`, { method: 'POST', headers: { authorization: basic('Admin', passwords.Admin), 'content-type': 'application/json' }, body: '{}' })).status, 400, 'a change without X-Requested-By');
    t.equal((await call('GET', '/api/streams', undefined, {})).status, 401);
  });

  await t.test('what files say is there after the start, and what ships', async (t) => {
    const { body } = await call('GET', '/api/search/saved');
    const titles = (body['elements'] as { title: string }[]).map(({ title }) => title);
    for (const title of ['Cloud events', 'User session history', 'From a file']) t.ok(titles.includes(title), title);
    t.match(program.output(), /wrong-view\.json.*cannot be used/);
    const run = await call('POST', '/api/views/search/sync', { queries: [{ id: 'q', query: { query_string: 'payment' }, timerange: { type: 'relative', range: 3600 }, search_types: [{ id: 'a', type: 'messages' }, { id: 'b', type: 'pivot', row_groups: [{ type: 'time', fields: ['timestamp'], interval: { type: 'auto' } }], series: [{ type: 'count' }], rollup: true }] }] });
    t.match(run.body, { results: { q: { state: 'COMPLETED', errors: [], search_types: { a: { type: 'messages' }, b: { type: 'pivot' } } } } });
  });

  await t.test('a login, its failure, a change of password and a logout are found in Audit logs, by those who may', async (t) => {
    const failed = await call('POST', '/api/system/sessions', { username: 'Operator', password: 'wrong', host: '' }, {});
    t.equal(failed.status, 401);
    const opened = await call('POST', '/api/system/sessions', { username: 'Operator', password: passwords.Operator, host: '' }, {});
    t.equal(opened.status, 200);
    const session = String(opened.body['session_id']);
    t.equal((await call('GET', '/api/users/Operator', undefined, { authorization: basic(session, 'session') })).status, 200);
    t.equal((await call('DELETE', `/api/system/sessions/${session}`, undefined, { authorization: basic(session, 'session') })).status, 204);
    t.equal((await call('GET', '/api/users/Operator', undefined, { authorization: basic(session, 'session') })).status, 401);
    t.equal((await call('PUT', '/api/users/Operator/password', { old_password: passwords.Operator, password: 'operator-next-password' }, { authorization: basic('Operator', passwords.Operator) })).status, 204);
    const lines = await until(async () => {
      const { body } = await call('GET', '/api/search/universal/relative?query=container:sluice&range=3600&limit=500&filter=streams:audit-logs&sort=timestamp:asc');
      const texts = ((body['messages'] ?? []) as { message: { message: string; receiver: string } }[]).filter(({ message }) => message.receiver === 'audit').map(({ message }) => message.message);
      return texts.some((text) => text.includes('/password" deployer/1 204 -1')) ? texts : undefined;
    }, 60_000, () => program.output());
    for (const want of [
      /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3}\]\[DEBUG\]127\.0\.0\.1 - \[-\] "POST api\/system\/sessions" deployer\/1 401 -1$/, /^\[[^\]]+\]\[INFO\]Invalid credentials in session create request\. Actor: "urn:\w+:user:Operator"$/,
      /^\[[^\]]+\]\[DEBUG\]127\.0\.0\.1 - \[-\] "POST api\/system\/sessions" deployer\/1 200 -1$/, /^\[[^\]]+\]\[DEBUG\]127\.0\.0\.1 Operator \[-\] "GET api\/users\/Operator" deployer\/1 200 -1$/,
      new RegExp(`^\\[[^\\]]+\\]\\[DEBUG\\]127\\.0\\.0\\.1 Operator \\[-\\] "DELETE api/system/sessions/${session}" deployer/1 204 -1$`), /^\[[^\]]+\]\[DEBUG\]127\.0\.0\.1 Operator \[-\] "PUT api\/users\/Operator\/password" deployer\/1 204 -1$/,
      /^audit: Admin view:create view=b{24} Sessions success$/,
    ]) t.ok(lines.some((line) => want.test(line)), `${want}\n${lines.join('\n')}`);
    const asOperator = { authorization: basic('Operator', 'operator-next-password') };
    t.equal((await call('GET', '/api/search/universal/relative?query=*&range=3600&filter=streams:audit-logs', undefined, asOperator)).status, 403);
    const { body } = await call('GET', '/api/search/universal/relative?query=container:sluice&range=3600', undefined, asOperator);
    t.equal(body['total_results'], 0, 'nothing of it for those who may not read Audit logs');
  });
  t.equal(await program.end(), 0);
});
