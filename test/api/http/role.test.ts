/** The API as a process of its own, beside a receiver and a processor. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { kafkaBrokers, openSearchNode } from '../../engines.js';
import { createCluster } from '../../program/cluster.js';
import { cleanEnvironment, commandLine, node, until, type Program } from '../../program.js';

const missing = kafkaBrokers() === undefined || openSearchNode() === undefined;
const skip = missing
  ? 'needs Kafka and OpenSearch: set SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH, or run npm test where Java 21 and Maven are'
  : false;
const authorization = `Basic ${Buffer.from('Admin:admin-first-password').toString('base64')}`;

await t.test(
  '--role api serves what processors store, and sends its audit records through the topics',
  { skip, timeout: 240_000 },
  async (t) => {
    const cluster = await createCluster(t);
    await cluster.start('processor', 'processor', { api: { enabled: false } });
    const receiver = await cluster.start('receiver', 'receiver', {
      receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }],
    });
    const api: Program = await cluster.start('api', 'api', {
      access: {
        first_passwords: {
          admin: 'admin-first-password',
          operator: 'operator-first-password',
          audit_viewer: 'viewer-first-password',
        },
      },
    });
    t.notMatch(receiver.output(), / API /, 'a receiver has none');
    const port = /API +http:\/\/127\.0\.0\.1:(\d+)/.exec(api.output())?.[1] ?? '';
    t.equal(
      (
        await fetch(`http://127.0.0.1:${receiver.port('gelf-http')}/gelf`, {
          method: 'POST',
          body: '{"host":"h","short_message":"through three processes"}',
        })
      ).status,
      202,
    );
    const total = (query: string): Promise<true> =>
      until(
        async () => {
          const answer = await fetch(
            `http://127.0.0.1:${port}/api/search/universal/relative?range=3600&query=${encodeURIComponent(query)}`,
            { headers: { authorization } },
          );
          if (answer.status !== 200) return undefined;
          return ((await answer.json()) as { total_results: number }).total_results > 0 ? true : undefined;
        },
        60_000,
        () => `${query}\n${api.output()}`,
      );
    t.ok(await total('message:"through three processes"'));
    const stdout = async (...words: string[]): Promise<string> => {
      const [command, ...leading] = node;
      return (
        await promisify(execFile)(command, [...leading, commandLine, ...words, '--config', api.settingsFile], {
          env: cleanEnvironment(),
        })
      ).stdout;
    };
    t.match(
      await stdout('search', 'message:"through three processes"', '--last', '1h', '--quiet'),
      /through three processes/,
      'the command line of a machine that has only the API',
    );
    t.match(await stdout('dead-letters', 'list', '--json'), /^$/);
    t.ok(await total('audit_action:search\\:execute AND audit_actor:Admin'), 'the search itself is recorded');
    t.equal(((await api.status()) as unknown as { ready: { ok: boolean } }).ready.ok, true);
    t.equal(await api.end(), 0);
  },
);

await t.test('what one process of the API begins, another one answers for', { skip, timeout: 240_000 }, async (t) => {
  const cluster = await createCluster(t);
  const passwords = {
    access: {
      first_passwords: {
        admin: 'admin-first-password',
        operator: 'operator-first-password',
        audit_viewer: 'viewer-first-password',
      },
    },
  };
  const processor = await cluster.start('processor', 'processor', passwords);
  const second = await cluster.start('second', 'api');
  const ports = [processor, second].map(
    (program) => /API +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.output())?.[1] ?? '',
  );
  const ask = async (
    at: number,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> => {
    const answer = await fetch(`http://127.0.0.1:${ports[at]}${path}`, {
      method,
      headers: { authorization, 'x-requested-by': 'test', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
  };
  const query = {
    id: 'q',
    query: { type: 'elasticsearch', query_string: '' },
    timerange: { type: 'relative', range: 0 },
    search_types: [{ id: 'm', type: 'messages', limit: 1 }],
  };
  const search = await ask(0, 'POST', '/api/views/search', { queries: [query] });
  t.equal(search.status, 201);
  const begun = await ask(1, 'POST', `/api/views/search/${String(search.body['id'])}/execute`, {
    global_override: { timerange: { type: 'relative', range: 60 } },
  });
  t.equal(begun.status, 201, 'a search that the other one has made');
  const id = String(begun.body['id']);
  const done = (at: number) =>
    until(
      async () => {
        const { status, body } = await ask(at, 'GET', `/api/views/search/status/${id}`);
        return status !== 200 || (body['execution'] as { done: boolean }).done ? { status, body } : undefined;
      },
      60_000,
      () => `job ${id}\n${ports.join()}`,
    );
  const [here, there] = [await done(0), await done(1)];
  t.match(here, { status: 200, body: { id, search_id: search.body['id'], owner: 'Admin' } });
  const effective = (answer: typeof here): unknown =>
    (answer.body['results'] as { q: { search_types: { m: { effective_timerange: unknown } } } }).q.search_types.m
      .effective_timerange;
  t.same(effective(here), effective(there), 'of the same moment');
  t.equal((await ask(0, 'DELETE', `/api/views/search/cancel/${id}`)).status, 204);
  const job = await ask(1, 'POST', '/api/dead-letters/replay', { all: true });
  t.equal(job.status, 202);
  for (const at of [0, 1]) {
    t.match(
      await until(
        async () => {
          const seen = await ask(at, 'GET', `/api/dead-letters/jobs/${String(job.body['id'])}`);
          return seen.body['state'] === 'running' ? undefined : seen;
        },
        60_000,
        () => 'the job does not end',
      ),
      { status: 200, body: { state: 'done', by: 'Admin', report: { replayed: 0 } } },
    );
  }
  for (const program of [second, processor]) t.equal(await program.end(), 0);
});
