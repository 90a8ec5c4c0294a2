/** How far all partitions are: which indices nothing can be written to any more (delivery protocol, rule 7). */
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { IndexPassage } from '../../sinks/index-sets/contract.js';
import type { TopicLog } from '../../topics/contract.js';
import { isPassed, type PartitionRecord } from '../delivery/records.js';
import type { Ledger } from './ledger.js';

interface PassageOptions {
  readonly ledger: Ledger;
  readonly topics: TopicLog;
  readonly group: string;
  readonly consumedTopics: readonly string[];
  readonly deadLettersTopic: string;
  /** Whether messages parked for the set wait to be drained. */
  readonly parkedLeft: (indexSet: string) => Promise<boolean>;
}

interface PartitionPosition {
  readonly record: PartitionRecord;
  /** Undefined: nothing is committed yet. */
  readonly committed: number | undefined;
}

export function createPassage(options: PassageOptions): IndexPassage {
  const { ledger, deadLettersTopic } = options;
  return {
    async read() {
      await ledger.refresh();
      const partitions = await consumedPartitions(options);
      return async (index, indexSet) => {
        // Dead letters go to one set alone, and may be silent for ever.
        const writing = partitions.filter(({ topic }) => topic !== deadLettersTopic || indexSet === deadLetterSet);
        return (
          isPassed(index, ledger.epochs(), writing) &&
          isPassed(index, ledger.epochs(), await leftParked(options, indexSet))
        );
      };
    },
  };
}

async function consumedPartitions(
  options: PassageOptions,
): Promise<(PartitionPosition & { readonly topic: string })[]> {
  const all = await Promise.all(
    options.consumedTopics.map(async (topic) => {
      // In this order: what a partition had parked before it committed stands in the record that is read afterwards.
      const committed = await options.topics.committed(options.group, topic);
      const records = await options.ledger.partitionRecords(topic, await options.topics.generation(topic));
      return [...records].map(([partition, record]) => ({ topic, record, committed: committed.get(partition) }));
    }),
  );
  return all.flat();
}

/**
 * A topic that was made again leaves what it had parked behind. Nobody owns those records any more: they hold an index
 * until the set is drained.
 */
async function leftParked(options: PassageOptions, indexSet: string): Promise<PartitionPosition[]> {
  if (!(await options.parkedLeft(indexSet))) return [];
  const records = await Promise.all(
    options.consumedTopics.map(async (topic) =>
      options.ledger.otherPartitionRecords(topic, await options.topics.generation(topic)),
    ),
  );
  return records
    .flat()
    .filter(({ parked }) => parked?.[indexSet] !== undefined)
    .map((record) => ({ record, committed: Number.MAX_SAFE_INTEGER }));
}
