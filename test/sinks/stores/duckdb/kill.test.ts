/** kill -9 of a process that writes, at random moments: nothing acknowledged is missing, nothing is there twice. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { Registry } from '../../../../core/metrics.js';
import type { QueryNode } from '../../../../schemas/query.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { metricValue } from '../../../topics/embedded/folder.js';
import { batchOf, idOf, samples } from '../contract/contract.js';
import { createSmallStore } from './support/open-store.js';

const rounds = 8;
const seed = Number(process.env['SLUICE_TEST_SEED'] ?? Date.now() % 2 ** 32);
const writerProcess = fileURLToPath(new URL('./support/writer-process.js', import.meta.url));

function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Largest acknowledged offset of each partition when the process was killed. */
function writeAndKill(folder: string, afterBatches: number, delayMs: number): Promise<Map<number, number>> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writerProcess, folder, '200'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const acknowledged = new Map<number, number>();
    let batches = 0;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [partition, next] = line.split(' ').map(Number);
      acknowledged.set(partition as number, next as number);
      batches += 1;
      if (batches === afterBatches) setTimeout(() => child.kill('SIGKILL'), delayMs);
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      signal === 'SIGKILL' ? resolve(acknowledged) : reject(new Error(`the writer ended with ${code}`)),
    );
  });
}

async function check(t: Test, store: IndexStore, acknowledged: ReadonlyMap<number, number>): Promise<void> {
  const markers = await store.documents.markers('crash_0', 'logs', 1);
  for (const [partition, next] of acknowledged)
    t.ok(
      (markers.get(partition) ?? 0) >= next,
      `partition ${partition}: marker ${markers.get(partition)}, acknowledged ${next}`,
    );
  const expected = () =>
    [...markers]
      .flatMap(([partition, next]) => Array.from({ length: next }, (_, offset) => `${idOf(offset)}-${partition}`))
      .sort();
  t.strictSame(await ids(store), expected(), 'exactly what lies below the markers');
  for (const [partition, next] of markers) {
    const first = Math.max(0, next - 300);
    t.match(await store.documents.write(batchOf('crash_0', samples(next - first, first), first, partition)), {
      stored: 0,
      alreadyStored: next - first,
    });
  }
  t.equal((await ids(store)).length, expected().length, 'a redelivery doubles nothing');
  const written = [...markers.values()].flatMap((next) => samples(next));
  const count = async (query: QueryNode): Promise<number> =>
    (await store.queries.search({ indices: ['crash_0'], query, limit: 0 })).total;
  t.equal(
    await count({ kind: 'term', field: undefined, text: 'suite' }),
    written.length,
    'words of every message are found',
  );
  t.equal(
    await count({ kind: 'term', field: undefined, text: 'host-1' }),
    written.filter(({ source }) => source === 'host-1').length,
  );
}

async function ids(store: IndexStore): Promise<string[]> {
  const seen: string[] = [];
  await store.queries.scanIds(['crash_0'], (page) => {
    seen.push(...page);
  });
  return seen.sort();
}

/** Sixteen process starts take long on a busy machine. */
t.setTimeout(120_000);

t.test(`kill -9 of a writer, ${rounds} times`, async (t) => {
  t.comment(`seed ${seed}`);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const random = createRandom(seed);
  let known = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const acknowledged = await writeAndKill(folder, 1 + Math.floor(random() * 30), Math.floor(random() * 40));
    const registry = new Registry();
    // What the killed process knew of the words, and no more.
    const store = createSmallStore(folder, {
      checkpointBytes: 2 ** 20,
      registry,
      words: { everyMs: 10, mostPerSecond: -1 },
    });
    try {
      await store.start();
      await t.test(`round ${round}`, (t) => check(t, store, acknowledged));
      const documents = (await store.indices.list('crash'))[0]?.documents ?? 0;
      known = Math.max(
        known,
        documents - (await metricValue(registry, 'sluice_store_words_behind', { store: 'embedded' })),
      );
    } finally {
      await store.stop(5000);
    }
  }
  t.ok(known > 0, `words of ${known} messages were in the index`);
});
