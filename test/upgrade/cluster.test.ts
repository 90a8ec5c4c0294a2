/**
 * Versions of what programs share on Kafka and OpenSearch: adopted, or refused with exit code 2 and a sentence, at the
 * start and while running.
 */
import t, { type Test } from 'tap';
import { packageVersion } from '../../core/process/package-root.js';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import { createKafkaTopicLog } from '../../topics/kafka.js';
import { createOpenSearchState } from '../../state/opensearch.js';
import { kafkaBrokers, openSearchNode, skipWithoutKafka, skipWithoutOpenSearch } from '../engines.js';
import { startProgram, until, workedOff, type Program } from '../program.js';
import { newerVersion } from './newer-program.js';
import { sendNumbered } from './sending.js';
import { createSharedEngines, type SharedEngines } from './shared-engines.js';

const skip = skipWithoutKafka().skip === false ? skipWithoutOpenSearch() : skipWithoutKafka();
const stamp = (format: number, minimum: number): object => ({
  format,
  minimum_reader: minimum,
  written_by: newerVersion,
});

/** What the program says when it ends, at its start or soon after. */
async function ending(t: Test, engines: SharedEngines, folder: string): Promise<string> {
  let program: Program;
  try {
    program = await startProgram(t, { settings: engines.settings, folder });
  } catch (error) {
    return (error as Error).message;
  }
  return endOf(program);
}

async function endOf(program: Program): Promise<string> {
  const { child } = program;
  const code = await until(
    () => child.exitCode ?? undefined,
    30_000,
    () => `it does not end: ${program.output().slice(-3000)}`,
  );
  return `the program ended: ${code}\n${program.output()}`;
}

async function putMeta(engines: SharedEngines, index: string, meta: object): Promise<void> {
  const { status, body } = await engines.client.request({
    method: 'PUT',
    path: `/${index}/_mapping`,
    body: { _meta: meta },
  });
  if (status >= 300) throw new Error(JSON.stringify(body));
}

async function metaOf(engines: SharedEngines, index: string): Promise<unknown> {
  const { body } = await engines.client.request({ method: 'GET', path: `/${index}/_mapping` });
  return (body as Record<string, { mappings: { _meta?: unknown } }>)[index]?.mappings._meta;
}

const refusals: readonly {
  readonly name: string;
  readonly make: (engines: SharedEngines) => Promise<() => Promise<void>>;
  readonly says: RegExp;
}[] = [
  {
    name: 'state index',
    says: /-state \(_meta\.sluice\): This was written by a newer version.*state index of version 2, written by Sluice 0\.2\.0-test\. Allowed: versions 0 to 1/,
    make: async (engines) => {
      await putMeta(engines, engines.stateIndex, { sluice: stamp(2, 2) });
      return () => putMeta(engines, engines.stateIndex, { sluice: stamp(1, 1) });
    },
  },
  {
    name: 'delivery records',
    says: /protocol\/version: This was written by a newer.*delivery records.*of version 3, which needs a reader of version 2/,
    make: async (engines) => {
      await engines.putEntry('protocol/version', stamp(3, 2));
      return () => engines.putEntry('protocol/version', stamp(1, 1));
    },
  },
  {
    name: 'epoch',
    says: /state entry epochs\/0000000000: This was written by a newer/,
    make: async (engines) => {
      const epoch = (await engines.entry('epochs/0000000000')) as object;
      await engines.putEntry('epochs/0000000000', { ...epoch, format: 2 });
      return () => engines.putEntry('epochs/0000000000', epoch);
    },
  },
  {
    name: 'index that is written to',
    says: /OpenSearch index \S+ \(_meta\.sluice\): This was written by a newer.*OpenSearch index of version 2/,
    make: async (engines) => {
      const [index] = (await engines.indices()).filter((name) => name.startsWith('sluice_default_'));
      await putMeta(engines, index as string, { sluice: stamp(2, 2) });
      return () => putMeta(engines, index as string, { sluice: stamp(1, 1) });
    },
  },
];

await t.test('what programs share on Kafka and OpenSearch', { ...skip, timeout: 400_000 }, async (t) => {
  const engines = createSharedEngines(t);
  const { settings } = engines;
  // The state as programs made it that knew no versions.
  await engines.client.request({
    method: 'PUT',
    path: `/${engines.stateIndex}`,
    body: {
      settings: { number_of_shards: 1, number_of_replicas: 0, hidden: true },
      aliases: { [`only-${engines.stateIndex}`]: { is_hidden: true } },
      mappings: {
        dynamic: false,
        _meta: { purpose: 'of somebody else' },
        properties: { key: { type: 'keyword' }, value: { type: 'keyword', index: false, doc_values: false } },
      },
    },
  });
  const first = await startProgram(t, { settings });
  const { folder } = first;
  await sendNumbered(first, 'first', 20);
  await workedOff(first);

  await t.test('a state without versions is adopted, and indices carry one', async (t) => {
    t.match(await metaOf(engines, engines.stateIndex), {
      purpose: 'of somebody else',
      sluice: { format: 1, minimum_reader: 1, written_by: packageVersion },
    });
    t.match(await engines.entry('protocol/version'), { format: 1, minimum_reader: 1, written_by: packageVersion });
    const indices = await engines.indices();
    t.ok(indices.length > 0);
    for (const index of indices)
      t.match(await metaOf(engines, index), { sluice: { format: 1, minimum_reader: 1, written_by: packageVersion } });
  });

  await t.test(
    'a program that runs goes on when the stamp is raised and it may read on, and stops with exit code 2 when it may not',
    async (t) => {
      await engines.putEntry('protocol/version', stamp(2, 1));
      await sendNumbered(first, 'goes on', 20);
      await workedOff(first);
      t.equal(first.child.exitCode, null);
      await engines.putEntry('protocol/version', stamp(2, 2));
      const said = await endOf(first);
      t.match(said, /^the program ended: 2\n/);
      t.match(said, /^sluice: state entry protocol\/version: This was written by a newer version/m);
      await engines.putEntry('protocol/version', stamp(1, 1));
    },
  );

  for (const { name, make, says } of refusals) {
    await t.test(`newer ${name}: refused with exit code 2 and a sentence`, async (t) => {
      const repair = await make(engines);
      const said = await ending(t, engines, folder);
      await repair();
      t.match(said, /^the program ended: 2\n/);
      t.match(said, says);
    });
  }

  await t.test('a newer format of an index with `_meta` of its own is never replaced by this program', async (t) => {
    const state = createOpenSearchState({
      nodes: [openSearchNode() ?? ''],
      requestTimeoutMs: 10_000,
      index: engines.stateIndex,
      log: silentLog,
    });
    await putMeta(engines, engines.stateIndex, { sluice: stamp(5, 1) });
    await state.start();
    await state.stop(1_000);
    t.same(await metaOf(engines, engines.stateIndex), { sluice: stamp(5, 1) });
    await putMeta(engines, engines.stateIndex, { sluice: stamp(1, 1) });
  });

  await t.test(
    'newer metadata of a commit: refused with exit code 2, and not read as if nothing had been seen',
    async (t) => {
      await commitAs(t, engines, '2 from-the-future');
      const said = await ending(t, engines, folder);
      t.match(said, /^the program ended: 2\n/);
      t.match(said, /metadata of the committed offset: This was written by a newer.*metadata of commits of version 2/);
      await commitAs(t, engines, '');
    },
  );

  await t.test('a newer record in the topic: refused with exit code 2, nothing is committed', async (t) => {
    const topic = `${engines.prefix}logs`;
    const producer = engines.kafka.producer();
    await producer.connect();
    await producer.send({
      topic,
      messages: [{ partition: 0, key: 'a', value: '{}', headers: { 'origin.2': 'receiver peer' } }],
    });
    await producer.disconnect();
    const admin = engines.kafka.admin();
    await admin.connect();
    const before = await admin.fetchOffsets({ groupId: engines.group, topics: [topic] });
    const said = await ending(t, engines, folder);
    t.match(said, /^the program ended: 2\n/);
    t.match(said, /header of a topic record: This was written by a newer.*records of a Kafka topic of version 2/);
    const after = await admin.fetchOffsets({ groupId: engines.group, topics: [topic] });
    await admin.disconnect();
    t.equal(
      after[0]?.partitions.find(({ partition }) => partition === 0)?.offset,
      before[0]?.partitions.find(({ partition }) => partition === 0)?.offset,
    );
  });
});

/** Commits the log's end with this metadata, as a processor of another version would. */
async function commitAs(t: Test, engines: SharedEngines, metadata: string): Promise<void> {
  const topic = `${engines.prefix}logs`;
  const producer = engines.kafka.producer();
  await producer.connect();
  await producer.send({
    topic,
    messages: [0, 1].map((partition) => ({
      partition,
      value: '{"host":"h","short_message":"taken by another program"}',
    })),
  });
  await producer.disconnect();
  const log = createKafkaTopicLog({
    brokers: kafkaBrokers()?.split(',') ?? [],
    log: silentLog,
    registry: new Registry(),
  });
  await log.start();
  const done = new Set<number>();
  const consumer = await log.consume(
    { group: engines.group, topics: [topic], maxBatchBytes: 1_000_000, maxBatchRecords: 1_000, concurrency: 2 },
    {
      assigned: async () => undefined,
      batch: async ({ partition, nextOffset }) => {
        done.add(partition);
        return { commit: nextOffset, metadata };
      },
      revoked: () => undefined,
    },
  );
  await until(
    () => (done.size === 2 ? true : undefined),
    30_000,
    () => 'no batch came',
  );
  await consumer.stop(5_000);
  await log.stop(5_000);
  t.comment(`committed as ${metadata}`);
}
