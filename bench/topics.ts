/**
 * Messages per second appended to the embedded topics and consumed from them: `node build/bench/topics.js [seconds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import type { TopicRecord } from '../topics/contract.js';
import { createEmbeddedTopicLog } from '../topics/embedded.js';

const messageBytes = 420;
const topic = 'bench';
const seconds = Number(process.argv[2] ?? 3);

function createBatch(count: number): TopicRecord[] {
  const value = Buffer.alloc(messageBytes, 'x');
  return Array.from({ length: count }, (_, index) => ({
    key: `0192f3a4b5c6d7e8-0001-${String(index).padStart(12, '0')}`,
    value,
    timestamp: 1_700_000_000_000,
    origin: 'gelf-tcp 127.0.0.1:51234',
  }));
}

interface Measured {
  readonly messages: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

async function measure(work: () => Promise<number>): Promise<Measured> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const messages = await work();
  clearInterval(timer);
  const used = process.cpuUsage(cpu);
  return {
    messages,
    seconds: (performance.now() - start) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
    peakMiB: Math.max(peak, process.memoryUsage.rss()) / 2 ** 20,
  };
}

function print(name: string, { messages, seconds: duration, cpuSeconds, peakMiB }: Measured): void {
  const cells = [
    `${Math.round(messages / duration / 100) / 10}k messages/s`,
    `${((cpuSeconds / messages) * 1e6).toFixed(1)} µs CPU/message`,
    `peak ${Math.round(peakMiB)} MiB`,
  ];
  console.log(`${name.padEnd(52)} ${cells.join('   ')}`);
}

async function append(
  partitions: number,
  batchRecords: number,
  appendsAtOnce: number,
  consume: boolean,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const log = createEmbeddedTopicLog({
    folder,
    segmentBytes: 64 * 2 ** 20,
    reserveBytes: 1,
    log: silentLog,
    registry: new Registry(),
  });
  try {
    await log.start();
    await log.ensureTopics([
      { name: topic, partitions, retentionBytes: undefined, retentionMs: undefined, maxMessageBytes: 2 ** 20 },
    ]);
    const batch = createBatch(batchRecords);
    const appended = await measure(async () => {
      const end = performance.now() + seconds * 1000;
      let messages = 0;
      await Promise.all(
        Array.from({ length: partitions * appendsAtOnce }, async (_, index) => {
          while (performance.now() < end) {
            await log.append(topic, index % partitions, batch);
            messages += batch.length;
          }
        }),
      );
      return messages;
    });
    print(`append, ${partitions} partition(s), ${appendsAtOnce} x ${batchRecords} at once`, appended);
    if (consume) print('consume, batches of 4 MiB', await measure(() => drain(log, appended.messages)));
  } finally {
    await log.stop(5000);
    await rm(folder, { recursive: true });
  }
}

function drain(log: ReturnType<typeof createEmbeddedTopicLog>, messages: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    log
      .consume(
        { group: 'bench', topics: [topic], maxBatchBytes: 4 * 2 ** 20, maxBatchRecords: 10_000, concurrency: 4 },
        {
          assigned: async () => {},
          revoked: () => {},
          batch: async (batch) => {
            seen += batch.records.length;
            if (seen === messages) resolve(seen);
            return { commit: batch.nextOffset, metadata: '' };
          },
        },
      )
      .catch(reject);
  });
}

await append(1, 500, 1, false);
await append(1, 2000, 1, true);
await append(4, 2000, 1, true);
await append(4, 500, 4, false);
await append(4, 1, 16, false);
