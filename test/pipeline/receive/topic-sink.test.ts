import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createRun, idPrefix, mintId } from '../../../core/message-ids.js';
import { TopicSink } from '../../../pipeline/receive/topic-sink.js';
import { createEmbeddedTopicLog } from '../../../topics/embedded.js';
import type { ConsumedRecord } from '../../../topics/contract.js';
import type { DeadLetter, MessageBatch } from '../../../schemas/messages.js';
import { until } from '../../program.js';

const run = createRun(1, Buffer.alloc(4));

interface World {
  readonly receive: TopicSink;
  readonly registry: Registry;
  records(topic: string, partition: number): Promise<ConsumedRecord[]>;
  free: number;
  /** Resolves when the topics have seen that the disk is full. */
  refused(): Promise<void>;
}

async function open(
  t: { teardown(action: () => Promise<void>): void },
  maxWaitingBytes = 10_000,
  unansweredLingerMs = 1,
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-receive-'));
  const registry = new Registry();
  const world = { free: 2 ** 40 };
  const topics = createEmbeddedTopicLog({
    folder,
    segmentBytes: 2 ** 20,
    reserveBytes: 2 ** 20,
    log: silentLog,
    registry,
    freeBytes: async () => world.free,
  });
  await topics.start();
  const common = { retentionBytes: undefined, retentionMs: undefined, maxMessageBytes: 2000 };
  await topics.ensureTopics([
    { name: 'logs', partitions: 2, ...common },
    { name: 'dead', partitions: 1, ...common, maxMessageBytes: 2 ** 20 },
  ]);
  const receive = new TopicSink({
    topics,
    logsTopic: 'logs',
    deadLettersTopic: 'dead',
    partitions: 2,
    run,
    batchBytes: 4000,
    lingerMs: 1,
    unansweredLingerMs,
    maxWaitingBytes,
    maxMessageBytes: 2000,
    registry,
    log: silentLog,
  });
  t.teardown(async () => {
    await receive.stop(1000);
    await topics.stop(1000);
    rmSync(folder, { recursive: true, force: true });
  });
  const records = async (topic: string, partition: number) => {
    const all: ConsumedRecord[] = [];
    await topics.read(topic, partition, 0, (some) => {
      all.push(...some.map((record) => ({ ...record, value: Buffer.from(record.value) })));
    });
    return all;
  };
  const refused = async () => {
    await until(
      async () => {
        await topics.maintain();
        return topics.writable().ok ? undefined : true;
      },
      10_000,
      () => 'the topics still take appends',
    );
  };
  return Object.assign(world, { receive, registry, records, refused });
}

function batch(lane: number | undefined, texts: readonly string[]): MessageBatch {
  const values = texts.map((text) => Buffer.from(text));
  return {
    receiver: 'gelf tcp',
    lane,
    receivedAt: 1000,
    values,
    peers: '127.0.0.1:5',
    bytes: values.reduce((sum, value) => sum + value.length, 0),
  };
}

t.test('a lane keeps its partition and its order; ids have no gap', async (t) => {
  const { receive, records } = await open(t);
  await Promise.all([receive.push(batch(1, ['a', 'b'])), receive.push(batch(1, ['c'])), receive.push(batch(3, ['d']))]);
  const found = await records('logs', 1);
  t.same(
    found.map(({ value }) => value.toString()),
    ['a', 'b', 'c', 'd'],
  );
  t.same(
    found.map(({ key }) => key),
    [0, 1, 2, 3].map((sequence) => mintId(idPrefix(run, 1), sequence)),
  );
  t.match(found[0], { origin: 'gelf tcp 127.0.0.1:5', timestamp: 1000 });
});

t.test('what nobody waits for gathers until somebody waits, or until it is much', async (t) => {
  const { receive, records } = await open(t, 100_000, 600_000);
  const gathering = [receive.push(batch(0, ['a'])), receive.push(batch(0, ['b']))];
  await receive.push({ ...batch(0, ['c']), answered: true });
  await Promise.all(gathering);
  t.same(
    (await records('logs', 0)).map(({ value }) => value.toString()),
    ['a', 'b', 'c'],
    'in their order',
  );
  await receive.push(
    batch(
      0,
      Array.from({ length: 4 }, () => 'x'.repeat(1_000)),
    ),
  );
  t.equal((await records('logs', 0)).length, 7, 'batch_bytes are reached');
});

t.test('batches without a lane are spread', async (t) => {
  const { receive, records } = await open(t);
  await Promise.all(['a', 'b', 'c', 'd'].map((text) => receive.push(batch(undefined, [text]))));
  t.equal((await records('logs', 0)).length, 2);
  t.equal((await records('logs', 1)).length, 2);
});

t.test('it is full while the topic takes nothing, and goes on when it does', async (t) => {
  const world = await open(t, 1000);
  world.free = 0;
  await world.refused();
  const pending = [0, 1].map((lane) => world.receive.push(batch(lane, ['x'.repeat(600)])));
  t.equal(world.receive.full(), true);
  t.equal(world.receive.waitingBytes(), 1200);
  world.free = 2 ** 40;
  await Promise.all(pending);
  t.equal(world.receive.full(), false);
});

t.test('a message that no record can hold becomes a dead letter, the others of its batch pass', async (t) => {
  const { receive, records } = await open(t);
  await receive.push(batch(0, ['before', 'y'.repeat(3000), 'after']));
  t.same(
    (await records('logs', 0)).map(({ value }) => value.toString()),
    ['before', 'after'],
  );
  const [deadLetter] = (await records('dead', 0)).map(({ value }) => JSON.parse(value.toString()) as DeadLetter);
  t.match(deadLetter, { code: 'PIPELINE_MESSAGE_TOO_LARGE', raw_length: 3000, peer: '127.0.0.1:5' });
});

t.test('raw bytes that are no text are kept exactly, and too many refusals are shed and counted', async (t) => {
  const { receive, records, registry } = await open(t, 10_000);
  const raw = Buffer.from([0, 255, 254, 7]);
  const refusal = { receiver: 'r', peer: 'p', receivedAt: 1, code: 'DECODE_X', reason: 'why', raw, rawLength: 4 };
  await receive.refuse([refusal]);
  const [deadLetter] = (await records('dead', 0)).map(({ value }) => JSON.parse(value.toString()) as DeadLetter);
  t.same(Buffer.from(deadLetter?.raw_base64 ?? '', 'base64'), raw);
  await Promise.all(Array.from({ length: 200 }, () => receive.refuse([refusal])));
  t.match(
    await registry.getSingleMetricAsString('sluice_refusals_shed_total'),
    /sluice_refusals_shed_total\{receiver="r"\} [1-9]/,
  );
});

t.test('after a stop nothing is taken', async (t) => {
  const { receive } = await open(t);
  await receive.stop(1000);
  await t.rejects(receive.push(batch(0, ['late'])), { code: 'PIPELINE_STOPPED' });
  t.equal(receive.full(), true);
});

t.test('no id of refused input is the id of a message', async (t) => {
  const { receive, records } = await open(t);
  const refusal = {
    receiver: 'gelf tcp',
    peer: '127.0.0.1:5',
    receivedAt: 1000,
    code: 'DECODE_EMPTY',
    reason: 'empty',
    raw: Buffer.from('x'),
    rawLength: 1,
  };
  await Promise.all([
    receive.push(batch(0, ['a', 'b'])),
    receive.push(batch(1, ['c'])),
    receive.refuse([refusal, refusal]),
  ]);
  const keys = (await Promise.all([records('logs', 0), records('logs', 1), records('dead', 0)]))
    .flat()
    .map(({ key }) => key);
  t.equal(keys.length, 5);
  t.equal(new Set(keys).size, 5);
});
