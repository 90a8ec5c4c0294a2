/** A load with keys in sequence, and what a reader makes of the topic afterwards. */
import type { TopicLog, TopicRecord } from '../../../topics/contract.js';

const keyOf = (partition: number, sequence: number): string => `run-${partition}-${sequence}`;

export function createSequence(partition: number, from: number, count: number): TopicRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    key: keyOf(partition, from + index),
    value: Buffer.from(`{"short_message":"message ${from + index}"}`),
    timestamp: Date.now(),
    origin: 'gelf-tcp 127.0.0.1:5000',
  }));
}

interface Verdict {
  /** Records of acknowledged appends that the topic does not have. */
  readonly missing: number;
  /** Records that stand more than once: what consumers skip by key. */
  readonly resent: number;
  /** Records whose sequence skips one, after resends are skipped. */
  readonly outOfOrder: number;
  readonly found: number;
}

/** Reads the partitions and compares with how many records of each were acknowledged. */
export async function checkSequences(log: TopicLog, topic: string, acknowledged: readonly number[]): Promise<Verdict> {
  const verdict = { missing: 0, resent: 0, outOfOrder: 0, found: 0 };
  for (const [partition, count] of acknowledged.entries()) {
    let highest = -1;
    await log.read(topic, partition, 0, (records) => {
      for (const record of records) {
        const sequence = Number(record.key.split('-')[2]);
        if (sequence <= highest) verdict.resent += 1;
        else {
          if (sequence !== highest + 1) verdict.outOfOrder += 1;
          verdict.found += 1;
          highest = sequence;
        }
      }
    });
    verdict.missing += Math.max(0, count - (highest + 1));
  }
  return verdict;
}
