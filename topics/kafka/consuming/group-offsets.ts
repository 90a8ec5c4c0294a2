/** Where the partitions of a consumer begin and end, and what its topics lost before it was read. */
import type { Kafka } from 'kafkajs';
import type { topicMetrics } from '../../metrics.js';
import type { BuiltMetrics } from '../../../core/metrics.js';
import type { GroupSession, PartitionOffsets } from './group-session.js';
import type { KafkaSettings } from '../options.js';
import { partitionStates } from '../topics.js';
import { kafkaEvents } from '../events.js';

export interface GroupOffsets {
  /**
   * For the partitions of one topic in one assignment: what they ask at the same moment is answered once; an answer
   * that failed is asked for again.
   */
  once(
    session: GroupSession,
    topic: string,
    partitions: readonly number[],
  ): (partition: number) => Promise<PartitionOffsets>;
  one(topic: string, partition: number): Promise<PartitionOffsets>;
  /** A consumer expected one offset and found another. */
  reportGap(topic: string, partition: number, expected: number, found: number): Promise<void>;
}

export function createGroupOffsets(
  kafka: Kafka,
  group: string,
  settings: KafkaSettings,
  metrics: BuiltMetrics<typeof topicMetrics>,
): GroupOffsets {
  const one = async (topic: string, partition: number): Promise<PartitionOffsets> => {
    const state = (await partitionStates(kafka, topic)).find((candidate) => candidate.partition === partition);
    return { earliest: state?.earliest ?? 0, logEnd: state?.logEnd ?? 0 };
  };
  return {
    one,
    once(session, topic, partitions) {
      let asked: Promise<ReadonlyMap<number, PartitionOffsets>> | undefined;
      return async (partition) => {
        asked ??= session.offsets(topic, partitions);
        const answer = asked;
        try {
          return (await answer).get(partition) ?? (await one(topic, partition));
        } catch {
          if (asked === answer) asked = undefined;
          return one(topic, partition);
        }
      };
    },
    /** Holes without a moved log start are no losses: control records leave them. */
    async reportGap(topic, partition, expected, found) {
      const place = { group, topic, partition, expected, found };
      if (found < expected) {
        kafkaEvents.topicTruncated(settings.log, place);
        return;
      }
      const { earliest } = await one(topic, partition).catch(() => ({ earliest: found }));
      const lost = Math.min(found, earliest) - expected;
      if (lost <= 0) return;
      metrics.recordsLost.inc({ group, topic }, lost);
      kafkaEvents.recordsExpired(settings.log, { ...place, lost });
    },
  };
}
