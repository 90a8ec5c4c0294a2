/**
 * The calls that existing deployments make, against the real program, with the statuses that they insist on; and what
 * these calls leave in Audit logs.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startProgram, testFolder, until } from '../../../program.js';
import { deploy } from './deploy.js';
import { createDeployer, type Answer } from './deployer.js';
import { basic, id, passwords } from './passwords.js';
import { statusRows } from './status-rows.js';

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
    for (const [method, path, body, wanted] of statusRows) {
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
      const deployer = createDeployer(t, call);
      for (const round of ['first', 'second'] as const) await deploy(t, { ...deployer, round });
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
      const streams = await deployer.listed('/api/streams', 'streams');
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
