/**
 * Appends to a real Kafka and reads back through a group: `node build/bench/kafka.js [seconds] [compression]`, with
 * SLUICE_TEST_KAFKA. One process; the broker shares the cores.
 */
import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import type { TopicRecord } from '../topics/contract.js';
import { createKafkaTopicLog, type KafkaTopicLogOptions } from '../topics/kafka.js';
import { kafkaBrokers } from '../test/engines.js';

const messageBytes = 420;
const partitions = 4;
const recordsPerAppend = 2_000;

function createBatch(partition: number, sequence: number): TopicRecord[] {
  return Array.from({ length: recordsPerAppend }, (_, index) => {
    const head = `{"version":"1.1","host":"node-${index % 7}","short_message":"request ${sequence + index} took ${(sequence * 7919 + index * 31) % 997} ms","_trace":"${(sequence + index).toString(16).padStart(16, '0')}","level":6,"_pad":"`;
    return {
      key: `0192f1aa-${partition}-${(sequence + index).toString(16).padStart(16, '0')}`,
      value: Buffer.from(
        `${head}${'kubernetes.namespace=shop '.repeat(20).slice(0, messageBytes - head.length - 2)}"}`,
      ),
      timestamp: Date.now(),
      origin: 'gelf-tcp 127.0.0.1:40000',
    };
  });
}

function rate(name: string, records: number, startedAt: number, cpu: NodeJS.CpuUsage): string {
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  return `${name.padEnd(24)} ${Math.round(records / seconds)
    .toString()
    .padStart(9)} messages/s  ${((user + system) / records).toFixed(2).padStart(6)} us CPU/message  peak ${peak} MiB`;
}

async function run(seconds: number, compression: NonNullable<KafkaTopicLogOptions['compression']>): Promise<void> {
  const log = createKafkaTopicLog({
    brokers: (kafkaBrokers() as string).split(','),
    log: silentLog,
    registry: new Registry(),
    compression,
  });
  const topic = `bench-${randomBytes(4).toString('hex')}`;
  await log.start();
  await log.ensureTopics([
    { name: topic, partitions, retentionBytes: 2 ** 30, retentionMs: 3_600_000, maxMessageBytes: 2 ** 20 },
  ]);
  const batches = Array.from({ length: partitions }, (_, partition) => createBatch(partition, 0));
  const appendFor = async (durationMs: number): Promise<number> => {
    const until = performance.now() + durationMs;
    const counts = await Promise.all(
      batches.map(async (batch, partition) => {
        let appended = 0;
        for (; performance.now() < until; appended += batch.length) await log.append(topic, partition, batch);
        return appended;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const warm = await appendFor(500);
  let [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const appended = await appendFor(seconds * 1000);
  console.log(rate(`kafka append ${compression}`, appended, startedAt, cpu));
  [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  let consumed = 0;
  await new Promise<void>((resolve, reject) => {
    log
      .consume(
        { group: topic, topics: [topic], maxBatchBytes: 4 * 2 ** 20, maxBatchRecords: 5_000, concurrency: partitions },
        {
          assigned: async () => undefined,
          batch: async ({ records, nextOffset }) => {
            consumed += records.length;
            if (consumed >= appended + warm) resolve();
            return { commit: nextOffset, metadata: '' };
          },
          revoked: () => undefined,
        },
      )
      .catch(reject);
  });
  console.log(rate(`kafka consume ${compression}`, consumed, startedAt, cpu));
  await log.stop(2_000);
  await remove(topic);
}

async function remove(name: string): Promise<void> {
  const admin = new kafkajs.Kafka({
    brokers: (kafkaBrokers() as string).split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [name] });
  await admin.deleteGroups([name]).catch(() => undefined);
  await admin.disconnect();
}

if (kafkaBrokers() === undefined) console.log('kafka: left out, set SLUICE_TEST_KAFKA');
else
  await run(
    Number(process.argv[2] ?? 4),
    (process.argv[3] ?? 'lz4') as NonNullable<KafkaTopicLogOptions['compression']>,
  );
