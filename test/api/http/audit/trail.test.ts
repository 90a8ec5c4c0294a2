/** How audit records get into the pipeline, and what happens when it takes none. */
import t from 'tap';
import { createAuditTrail } from '../../../../api/http/audit/audit-trail.js';
import { silentLog } from '../../../../core/log.js';
import { Registry } from '../../../../core/metrics.js';
import type { MessageBatch, MessageSink } from '../../../../schemas/messages.js';

const at = Date.UTC(2020, 0, 1, 10, 0, 0, 1);
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
