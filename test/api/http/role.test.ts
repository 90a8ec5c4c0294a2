/** The API as a process of its own, beside a receiver and a processor. */
import t from 'tap';
import { kafkaBrokers, openSearchNode } from '../../engines.js';
import { createCluster } from '../../program/cluster.js';
import { until, type Program } from '../../program.js';

const missing = kafkaBrokers() === undefined || openSearchNode() === undefined;
const skip = missing ? 'needs Kafka and OpenSearch: set SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH, or run npm test where Java 21 and Maven are' : false;
const authorization = `Basic ${Buffer.from('Admin:admin-first-password').toString('base64')}`;

await t.test('--role api serves what processors store, and sends its audit records through the topics', { skip, timeout: 240_000 }, async (t) => {
  const cluster = await createCluster(t);
  await cluster.start('processor', 'processor', { api: { enabled: false } });
  const receiver = await cluster.start('receiver', 'receiver', { receivers: [{ type: 'gelf_http', host: '127.0.0.1', port: 0 }] });
  const api: Program = await cluster.start('api', 'api', { access: { first_passwords: { admin: 'admin-first-password', operator: 'operator-first-password', audit_viewer: 'viewer-first-password' } } });
  t.notMatch(receiver.output(), / API /, 'a receiver has none');
  const port = /API +http:\/\/127\.0\.0\.1:(\d+)/.exec(api.output())?.[1] ?? '';
  t.equal((await fetch(`http://127.0.0.1:${receiver.port('gelf-http')}/gelf`, { method: 'POST', body: '{"host":"h","short_message":"through three processes"}' })).status, 202);
  const total = (query: string): Promise<true> => until(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/search/universal/relative?range=3600&query=${encodeURIComponent(query)}`, { headers: { authorization } });
    if (answer.status !== 200) return undefined;
    return ((await answer.json()) as { total_results: number }).total_results > 0 ? true : undefined;
  }, 60_000, () => `${query}\n${api.output()}`);
  t.ok(await total('message:"through three processes"'));
  t.ok(await total('audit_action:search\\:execute AND audit_actor:Admin'), 'the search itself is recorded');
  t.equal((await api.status() as unknown as { ready: { ok: boolean } }).ready.ok, true);
  t.equal(await api.end(), 0);
});
