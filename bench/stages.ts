/**
 * CPU of each stage of a message's way, from the socket's bytes to the written document, in one table:
 * `node build/bench/stages.js [messages]`. Embedded engines, one process; processor time of all its threads, garbage
 * collection included. The share of the protocol over Kafka is measured by protocol.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import { createGenerator } from '../load/generator.js';
import { checkResends, encodeSequences, type Sequences } from '../pipeline/delivery/sequences.js';
import { createRun, idPrefix, mintId } from '../core/message-ids.js';
import { TopicSink } from '../pipeline/receive/topic-sink.js';
import type { ConsumedBatch, TopicLog } from '../topics/contract.js';
import { createEmbeddedTopicLog } from '../topics/embedded.js';
import { createDecoder } from '../gelf/decoder.js';
import { createFrameSplitter } from '../receivers/frame/splitter.js';
import { createInflater } from '../receivers/inflate/inflater.js';
import { createDuckStore } from '../sinks/stores/duckdb/store.js';
import { cpuMicroseconds } from './processing.js';
import { benchRoute } from './route.js';

const messages = Number(process.argv[2] ?? 200_000);
const readBytes = 64 * 1024;
const batchRecords = 5_000;
const mebibyte = 2 ** 20;

interface Row {
  readonly stage: string;
  /** Microseconds a message. */
  readonly cost: number;
  /** Part of the way of a plain TCP message; the others are shown beside. */
  readonly onTheWay: boolean;
  /** Belongs to the delivery protocol. */
  readonly protocol?: true;
}

const rows: Row[] = [];
const add = (stage: string, cost: number, kind: 'way' | 'beside' | 'protocol' = 'way'): void => {
  rows.push({ stage, cost, onTheWay: kind !== 'beside', ...(kind === 'protocol' ? { protocol: true as const } : {}) });
};

async function timed(count: number, run: () => void | Promise<void>): Promise<number> {
  const before = cpuMicroseconds();
  await run();
  return (cpuMicroseconds() - before) / count;
}

function createMessages(count: number): Buffer[] {
  const generator = createGenerator({ seed: 7, run: '0000abcd', bytes: 420 });
  return Array.from({ length: count }, (_, index) => {
    const target = Buffer.alloc(generator.largestBytes);
    return Buffer.from(
      target.subarray(0, generator.write(target, 0, { connection: index % 8, sent: index }, 1_795_267_403_177)),
    );
  });
}

async function receiving(values: readonly Buffer[]): Promise<void> {
  const stream = Buffer.concat(values.flatMap((value) => [value, Buffer.from([0])]));
  const rounds = Math.ceil(messages / values.length);
  const splitter = createFrameSplitter({ delimiter: 'null', maxFrameBytes: 2 * mebibyte });
  add(
    'cut frames',
    await timed(rounds * values.length, () => {
      for (let round = 0; round < rounds; round += 1) {
        for (let at = 0; at < stream.length; at += readBytes)
          splitter.feed(stream.subarray(at, at + readBytes), { frames: [], oversize: [] });
      }
    }),
  );
  const inflater = createInflater();
  const packed = values.slice(0, 2_000).map((value) => gzipSync(value));
  add(
    `inflate (gzip, ${inflater.name})`,
    await timed(packed.length * 10, () => {
      for (let round = 0; round < 10; round += 1) for (const bytes of packed) inflater.inflate(bytes, mebibyte);
    }),
    'beside',
  );
  const decoder = createDecoder();
  add(
    'check that it is a message',
    await timed(rounds * values.length, () => {
      for (let round = 0; round < rounds; round += 1) for (const value of values) decoder.parse(value);
    }),
  );
}

async function topicsPart(values: readonly Buffer[], folder: string): Promise<void> {
  const log = createEmbeddedTopicLog({
    folder,
    segmentBytes: 64 * mebibyte,
    reserveBytes: 1,
    log: silentLog,
    registry: new Registry(),
  });
  await log.start();
  const spec = { partitions: 4, retentionBytes: undefined, retentionMs: undefined, maxMessageBytes: mebibyte };
  await log.ensureTopics([
    { name: 'logs', ...spec },
    { name: 'dead', ...spec, partitions: 1 },
  ]);
  const receive = new TopicSink({
    topics: log,
    logsTopic: 'logs',
    deadLettersTopic: 'dead',
    partitions: 4,
    run: createRun(Date.now()),
    batchBytes: mebibyte,
    lingerMs: 5,
    unansweredLingerMs: 25,
    maxWaitingBytes: 64 * mebibyte,
    maxMessageBytes: mebibyte,
    registry: new Registry(),
    log: silentLog,
  });
  const batches: Buffer[][] = [];
  for (let at = 0; at < values.length; at += 150) batches.push(values.slice(at, at + 150));
  const rounds = Math.ceil(messages / values.length);
  add(
    'queue, mint ids, append',
    await timed(rounds * values.length, async () => {
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all(
          batches.map((batch, lane) =>
            receive.push({
              receiver: 'gelf-tcp',
              lane,
              receivedAt: Date.now(),
              values: batch,
              peers: '127.0.0.1:40000',
              bytes: batch.reduce((sum, value) => sum + value.length, 0),
            }),
          ),
        );
      }
    }),
  );
  await receive.stop(10_000);
  add('fetch and commit', await timed(rounds * values.length, () => drain(log, rounds * values.length)));
  await log.stop(5_000);
}

function drain(log: TopicLog, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    log
      .consume(
        {
          group: 'bench',
          topics: ['logs'],
          maxBatchBytes: 4 * mebibyte,
          maxBatchRecords: batchRecords,
          concurrency: 4,
        },
        {
          assigned: async () => undefined,
          revoked: () => undefined,
          batch: async ({ records, nextOffset }: ConsumedBatch) => {
            seen += records.length;
            if (seen >= count) resolve();
            return { commit: nextOffset, metadata: '' };
          },
        },
      )
      .catch(reject);
  });
}

async function protocolPart(): Promise<void> {
  const prefix = idPrefix(createRun(Date.now()), 1);
  const keys = Array.from({ length: batchRecords }, (_, sequence) => ({ key: mintId(prefix, sequence) }));
  const rounds = Math.ceil((messages * 5) / batchRecords);
  const nobody: Sequences = new Map();
  add(
    'look at the sequences',
    await timed(rounds * batchRecords, () => {
      for (let round = 0; round < rounds; round += 1) encodeSequences(checkResends(keys, nobody).after);
    }),
    'protocol',
  );
}

async function storing(folder: string): Promise<void> {
  const { parse, toDocument, rules, coerce } = await benchRoute('mix', 60);
  add('parse again', parse);
  add('make the document', toDocument);
  add('rules that ship', rules);
  add('fit and serialise', coerce);
  const store = createDuckStore({
    folder,
    memoryBytes: 1536 * mebibyte,
    threads: 0,
    checkpointBytes: 256 * mebibyte,
    reserveBytes: 0,
    log: silentLog,
    registry: new Registry(),
  });
  await store.start();
  await store.indices.create('bench_0', { alias: 'bench', shards: 1, replicas: 0, refreshIntervalMs: 1000 });
  const run = createRun(Date.now());
  const document = (at: number): string =>
    `{"source":"node-${at % 12}","message":"payment accepted for order ${at}","timestamp":"2026-01-01T00:00:00.000Z","receive_time":"2026-01-01T00:00:00.000Z","level":6,"namespace":"shop","pod":"pay-${at % 200}","container":"pay","labels_app":"pay","nodename":"node-${at % 12}","receiver":"gelf-tcp","peer_address":"127.0.0.1:40000","rule_set_version":"abcdef012345","streams":["000000000000000000000001"]}`;
  const write = async (first: number): Promise<void> => {
    const offsets = Array.from({ length: batchRecords }, (_, at) => first + at);
    await store.documents.write({
      index: 'bench_0',
      topic: 'logs',
      topicGeneration: 1,
      partition: 0,
      nextOffset: first + batchRecords,
      offsets,
      ids: offsets.map((offset) => mintId(idPrefix(run, 0), offset)),
      documents: offsets.map(document),
    });
  };
  for (let first = 0; first < 4 * batchRecords; first += batchRecords) await write(first);
  const count = Math.ceil(messages / batchRecords) * batchRecords;
  add(
    'write and commit, DuckDB',
    await timed(count, async () => {
      for (let first = 4 * batchRecords; first < 4 * batchRecords + count; first += batchRecords) await write(first);
    }),
  );
  await store.stop(10_000);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
try {
  const values = createMessages(20_000);
  await receiving(values);
  await topicsPart(values, join(folder, 'topics'));
  await protocolPart();
  await storing(join(folder, 'indices'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const sum = rows.reduce((total, row) => total + (row.onTheWay ? row.cost : 0), 0);
for (const { stage, cost, onTheWay, protocol } of rows) {
  process.stdout.write(
    `${stage.padEnd(32)} ${cost.toFixed(2).padStart(7)} us a message  ${onTheWay ? `${((cost / sum) * 100).toFixed(1).padStart(5)} %` : '  beside'}${protocol === true ? '  delivery protocol' : ''}\n`,
  );
}
process.stdout.write(
  `${'sum'.padEnd(32)} ${sum.toFixed(2).padStart(7)} us a message, ${Math.round(1e6 / sum)} messages/s on one core; peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB\n`,
);
