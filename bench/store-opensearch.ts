/** Documents per second into OpenSearch: GELF-like documents of 420 bytes, bulks of 5,000, two in flight. */
import { randomBytes } from 'node:crypto';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import type { LogDocument } from '../schemas/messages.js';
import { createMappingCoercion } from '../sinks/index-sets/mapping-coercion.js';
import { createOpenSearchStore } from '../sinks/stores/opensearch/store.js';

const documentsPerBulk = 5_000;
const inFlight = 2;
const words =
  'request served pod restarted connection timeout upstream error user login failed handler payment order created deleted database query slow retry cache'.split(
    ' ',
  );

/** The same sequence in every run: a multiplicative generator. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function createDocument(at: number, random: (below: number) => number): LogDocument {
  const time = new Date(Date.UTC(2026, 10, 1) + at).toISOString();
  return {
    source: `node-${random(20)}`,
    message: `${Array.from({ length: 8 }, () => words[random(words.length)]).join(' ')} id=${random(1e9)}`,
    timestamp: time,
    receive_time: time,
    level: random(8),
    facility: 'app',
    namespace: `ns-${random(10)}`,
    pod: `pod-${random(200)}`,
    container: `c-${random(30)}`,
    status: 200 + random(300),
    duration_ms: random(1_000) / 7,
    request_id: `${random(1e9).toString(36)}${random(1e9).toString(36)}`,
    receiver: 'gelf_tcp',
    peer_address: `10.0.0.${random(250)}:${random(60_000)}`,
    streams: ['000000000000000000000001'],
    rule_set_version: 'abcdef012345',
  };
}

interface Batch {
  readonly ids: readonly string[];
  readonly offsets: readonly number[];
  readonly documents: readonly LogDocument[];
}

/** Few documents, so that the collector does not measure them; every id is new. */
function* createBatches(count: number): Generator<Batch> {
  const random = createRandom(1);
  const pool = Array.from({ length: 4 }, (_, batch) =>
    Array.from({ length: documentsPerBulk }, (__, at) => createDocument(batch * documentsPerBulk + at, random)),
  );
  for (let batch = 0; batch < count; batch += 1) {
    const offsets = Array.from({ length: documentsPerBulk }, (_, at) => batch * documentsPerBulk + at);
    const ids = offsets.map((offset) => `0199aa00bbcc-0001-${offset.toString(16).padStart(12, '0')}`);
    yield { offsets, ids, documents: pool[batch % pool.length] as LogDocument[] };
  }
}

/** Prints one line; needs the address of an OpenSearch. */
async function benchOpenSearchStore(node: string, bulks = 60): Promise<void> {
  const store = createOpenSearchStore({
    nodes: [node],
    requestTimeoutMs: 30_000,
    bulkBytes: 10 * 2 ** 20,
    maxFields: 900,
    log: silentLog,
    registry: new Registry(),
  });
  await store.start();
  const prefix = `bench-${randomBytes(4).toString('hex')}`;
  const index = `${prefix}_0`;
  await store.indices.create(index, { alias: prefix, shards: 1, replicas: 0, refreshIntervalMs: 5_000 });
  try {
    const coercion = createMappingCoercion({ maxFields: 900 });
    const batches = createBatches(bulks);
    const cpu = process.cpuUsage();
    const start = performance.now();
    const totals = { stored: 0, retried: 0 };
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        for (const batch of batches) {
          const documents = batch.documents.map((document) => coercion.coerce(index, document));
          const request = {
            ...batch,
            index,
            documents,
            topic: 'logs',
            topicGeneration: 1,
            partition: 0,
            nextOffset: 0,
          };
          for (let left = documentsPerBulk; left > 0; ) {
            const { stored, failures } = await store.documents.write(request);
            totals.stored += stored;
            totals.retried += failures.length;
            left = failures.length;
          }
        }
      }),
    );
    const seconds = (performance.now() - start) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    const bytes = (await store.indices.list(prefix))[0]?.bytes ?? 0;
    console.log(
      `write to OpenSearch: ${Math.round(totals.stored / seconds)} documents/s, ${((user + system) / totals.stored).toFixed(1)} us of CPU per document in this process, ` +
        `${totals.retried} retried, ${Math.round(bytes / totals.stored)} bytes per document, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
    );
  } finally {
    await store.indices.delete(index);
    await store.stop(1_000);
  }
}

const node = process.env['SLUICE_TEST_OPENSEARCH'];
if (process.argv[1]?.endsWith('store-opensearch.js') === true) {
  if (node === undefined) console.log('write to OpenSearch: left out, SLUICE_TEST_OPENSEARCH is not set');
  else await benchOpenSearchStore(node);
}
