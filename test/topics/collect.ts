/** Helpers of the topic suites: records to append, and a consumer that keeps what it was given. */
import type {
  Assignment,
  ConsumedBatch,
  ConsumedRecord,
  ConsumeHandler,
  ConsumeOptions,
  TopicLog,
  TopicRecord,
  TopicSpec,
} from '../../topics/contract.js';

type Commit = { readonly commit: number; readonly metadata: string };

export const topicSpec = (name: string, partitions = 1): TopicSpec => ({
  name,
  partitions,
  retentionBytes: undefined,
  retentionMs: undefined,
  maxMessageBytes: 1_000_000,
});

export const consumeOptions = (
  group: string,
  topic: string,
  changes: Partial<ConsumeOptions> = {},
): ConsumeOptions => ({
  group,
  topics: [topic],
  maxBatchBytes: 1_000_000,
  maxBatchRecords: 1000,
  concurrency: 4,
  ...changes,
});

export function createRecord(number: number, value = `{"short_message":"message ${number}"}`): TopicRecord {
  return {
    key: `run-0-${number}`,
    value: Buffer.from(value),
    timestamp: 1_700_000_000_000 + number,
    origin: 'gelf-tcp 127.0.0.1:5000',
  };
}

export function createRecords(from: number, count: number): TopicRecord[] {
  return Array.from({ length: count }, (_, index) => createRecord(from + index));
}

export async function readAll(log: TopicLog, topic: string, partition = 0, from = 0): Promise<ConsumedRecord[]> {
  const all: ConsumedRecord[] = [];
  await log.read(topic, partition, from, (records) => {
    all.push(...records);
  });
  return all;
}

/** Polls until the condition holds; fails with what it waited for after the deadline. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Waited ${deadlineMs} ms in vain for: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

export interface Collector extends ConsumeHandler {
  readonly assignments: Assignment[];
  readonly batches: ConsumedBatch[];
  readonly revocations: string[];
  /** Keys of the batches that were handled, in the order of handling. */
  readonly keys: string[];
}

/** Keeps everything it is given; `onBatch` decides on commits and rejections (default: commits all, no metadata). */
export function createCollector(
  onBatch: (batch: ConsumedBatch) => Commit | Promise<Commit> = (batch) => ({ commit: batch.nextOffset, metadata: '' }),
): Collector {
  const collector: Collector = {
    assignments: [],
    batches: [],
    revocations: [],
    keys: [],
    async assigned(assignment) {
      collector.assignments.push(assignment);
    },
    async batch(batch) {
      collector.batches.push(batch);
      const commit = await onBatch(batch);
      for (const record of batch.records) collector.keys.push(record.key);
      return commit;
    },
    revoked(topic, partition) {
      collector.revocations.push(`${topic}/${partition}`);
    },
  };
  return collector;
}
