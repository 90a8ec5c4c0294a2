/**
 * Documents per second into the embedded store, JSON parsing and durable commits included, and what searches take then.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import type { QueryNode } from '../schemas/query.js';
import type { IndexStore, WriteRequest } from '../sinks/stores/contract.js';
import { createDuckStore } from '../sinks/stores/duckdb/store.js';

const documents = Number(process.env['BENCH_DOCUMENTS'] ?? 200_000);
const batchDocuments = Number(process.env['BENCH_BATCH'] ?? 4000);
/** Field names of which each document has five, besides the common ones. */
const dynamicNames = Number(process.env['BENCH_DYNAMIC_NAMES'] ?? 0);
/** Batches made before the clock runs; written, they make room for the next. */
const roundBatches = 10;
const index = 'bench_0';
const words =
  'request handled connection timeout retry user order payment failed upstream cache miss database query slow commit rolled back session token refresh'.split(
    ' ',
  );

function pick<T>(list: readonly T[], random: number): T {
  return list[random % list.length] as T;
}

/**
 * About 420 bytes as a GELF message, 700 as a routed document; a small linear generator makes it the same every time.
 */
function createGenerator(): (at: number) => string {
  let state = 42;
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state >> 8;
  };
  return (at) => {
    const time = new Date(Date.UTC(2026, 0, 1) + at * 20).toISOString();
    const message = `${Array.from({ length: 12 }, () => pick(words, next())).join(' ')} id=${next().toString(16)}${next().toString(16)} took ${next() % 5000} ms`;
    const pod = next() % 300;
    return JSON.stringify({
      timestamp: time,
      receive_time: time,
      source: `node-${pod % 12}`,
      message,
      level: next() % 10 === 0 ? 3 : 6,
      streams: pick([['000000000000000000000001'], ['000000000000000000000001', 'aaaaaaaaaaaaaaaaaaaaaaaa']], next()),
      receiver: 'gelf_tcp',
      peer_address: `10.0.0.${pod % 12}:5${pod % 1000}`,
      rule_set_version: 3,
      namespace_name: `team-${pod % 20}`,
      pod_name: `service-${pod % 60}-7d9f8b6c5-${pod.toString(36)}`,
      container_name: `service-${pod % 60}`,
      host: `node-${pod % 12}`,
      stream: 'stdout',
      'labels-app': `service-${pod % 60}`,
      'labels-version': `1.${pod % 7}`,
      tag: `kube.var.log.containers.service-${pod % 60}`,
      trace_id: next().toString(16).padStart(6, '0') + next().toString(16),
      duration_ms: next() % 5000,
      ...(next() % 200 === 0 && { rare: `r${next() % 50}` }),
      ...(dynamicNames > 0 &&
        Object.fromEntries(Array.from({ length: 5 }, () => [`dynamic_${next() % dynamicNames}`, next() % 1000]))),
    });
  };
}

function request(generate: (at: number) => string, first: number): WriteRequest {
  const offsets = Array.from({ length: batchDocuments }, (_, at) => first + at);
  return {
    index,
    topic: 'logs',
    topicGeneration: 1,
    partition: 0,
    nextOffset: first + batchDocuments,
    offsets,
    ids: offsets.map((offset) => `0199f2c3a1b2c3d4-00-${offset.toString(16).padStart(12, '0')}`),
    documents: offsets.map(generate),
  };
}

/** Two at a time, as two partitions would. Milliseconds of each. */
async function writeAll(store: IndexStore, batches: WriteRequest[]): Promise<number[]> {
  const times: number[] = [];
  const lane = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const start = performance.now();
      await store.documents.write(batch);
      times.push(performance.now() - start);
    }
  };
  await Promise.all([lane(), lane()]);
  return times;
}

async function ingest(store: IndexStore): Promise<void> {
  const generate = createGenerator();
  let seconds = 0;
  let cpu = 0;
  let worst = 0;
  let rawBytes = 0;
  for (let first = 0; first < documents; first += roundBatches * batchDocuments) {
    const batches = Array.from({ length: roundBatches }, (_, at) => request(generate, first + at * batchDocuments));
    rawBytes += batches.reduce(
      (sum, batch) => sum + batch.documents.reduce((bytes, document) => bytes + document.length, 0),
      0,
    );
    const cpuBefore = process.cpuUsage();
    const start = performance.now();
    worst = Math.max(worst, ...(await writeAll(store, batches)));
    const used = process.cpuUsage(cpuBefore);
    seconds += (performance.now() - start) / 1000;
    cpu += used.user + used.system;
  }
  const [before] = await store.indices.list('bench');
  await store.indices.checkpoint(index);
  const [after] = await store.indices.list('bench');
  console.log(
    `embedded store: ${Math.round(documents / seconds)} documents/s, ${(cpu / documents).toFixed(1)} us CPU/document, worst batch ${worst.toFixed(0)} ms, ` +
      `${Math.round(rawBytes / documents)} B raw, ${Math.round((after?.bytes ?? 0) / documents)} B stored/document (${Math.round((before?.bytes ?? 0) / documents)} before the checkpoint), ` +
      `RSS ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`,
  );
}

const queries: readonly (readonly [string, QueryNode])[] = [
  ['newest 100', { kind: 'all' }],
  [
    'namespace and word',
    {
      kind: 'and',
      children: [
        { kind: 'term', field: 'namespace_name', text: 'team-3' },
        { kind: 'term', field: 'message', text: 'timeout' },
      ],
    },
  ],
  ['phrase', { kind: 'phrase', field: 'message', text: 'connection timeout' }],
  ['no hit', { kind: 'term', field: undefined, text: 'nonexistentword' }],
  ['prefix', { kind: 'wildcard', field: 'message', pattern: 'pay*' }],
  ['regex', { kind: 'regex', field: 'message', pattern: 'ro(ll|w)ed' }],
  ['rare field', { kind: 'exists', field: 'rare' }],
  ['range', { kind: 'range', field: 'duration_ms', from: { value: 4990, inclusive: true }, to: undefined }],
];

async function search(store: IndexStore): Promise<void> {
  for (const [name, query] of queries) {
    const times: number[] = [];
    let total = 0;
    for (let round = 0; round < 5; round += 1) {
      const start = performance.now();
      ({ total } = await store.queries.search({ indices: [index], query, limit: 100 }));
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    console.log(
      `  search ${name}: ${times[2]?.toFixed(0)} ms, worst ${times[4]?.toFixed(0)} ms, ${total} hits of ${documents}`,
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const store = createDuckStore({
  folder,
  memoryBytes: 1536 * 2 ** 20,
  threads: 0,
  checkpointBytes: Number(process.env['BENCH_CHECKPOINT'] ?? 256 * 2 ** 20),
  reserveBytes: 0,
  log: silentLog,
  registry: new Registry(),
});
try {
  await store.start();
  await store.indices.create(index, { alias: 'bench', shards: 1, replicas: 0, refreshIntervalMs: 1000 });
  await ingest(store);
  await search(store);
} finally {
  await store.stop(10_000);
  rmSync(folder, { recursive: true, force: true });
}
