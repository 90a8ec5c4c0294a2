/** Consumes the topics: hands what the consumer reports to the partition it is about. */
import { noteTraffic } from '../../core/process/young-generation.js';
import type { ConsumeHandler } from '../../topics/contract.js';
import { checkResends } from '../delivery/sequences.js';
import { pipelineErrors } from '../errors.js';
import { giveBack, takeEpoch } from './between-batches.js';
import { consumeBatch } from './consume-batch.js';
import type { ConsumeContext } from './context.js';
import { createOwnedPartition, parkedBy, placeOf, serially, type OwnedPartition } from './owned-partition.js';
import { assign } from './take-over.js';

export interface PartitionsOptions extends ConsumeContext {
  /** Instead of rule 5's look at the sequences: only to measure what that costs. */
  readonly checkResends?: typeof checkResends | undefined;
}

export interface Partitions extends ConsumeHandler {
  /** Receive time of the oldest message that is being delivered; undefined when none is. */
  oldestInDelivery(): number | undefined;
  /** Lets silent partitions take the newest epoch. Resolves when all have, or have given up. */
  epochAppended(): Promise<void>;
  /** Index sets that partitions of this process have parked. */
  parkedSets(): ReadonlySet<string>;
  /** Lets partitions give back what is drained. Resolves when those without a batch under way have. */
  checkDrained(): Promise<void>;
}

export function createPartitions(context: PartitionsOptions): Partitions {
  const partitions = new Map<string, OwnedPartition>();
  const check = context.checkResends ?? checkResends;
  return {
    async assigned(assignment) {
      const generation = await context.topics.generation(assignment.topic);
      const owned = createOwnedPartition(context, assignment, generation);
      partitions.set(placeOf(assignment), owned);
      await serially(owned, () => assign(context, owned, assignment));
    },
    async batch(batch) {
      const place = placeOf(batch);
      const owned = partitions.get(place);
      if (owned === undefined) throw pipelineErrors.create('PIPELINE_PARTITION_LOST', { place });
      noteTraffic(batch.records.length);
      return serially(owned, () => consumeBatch(context, owned, batch, check));
    },
    revoked(topic, partition) {
      const place = placeOf({ topic, partition });
      const owned = partitions.get(place);
      if (owned !== undefined) owned.gone = true;
      partitions.delete(place);
    },
    async epochAppended() {
      await Promise.all([...partitions.values()].map((owned) => serially(owned, () => takeEpoch(context, owned))));
    },
    parkedSets: () => new Set([...partitions.values()].flatMap(parkedBy)),
    checkDrained: () => checkDrained(context, [...partitions.values()]),
    oldestInDelivery() {
      const times = [...partitions.values()].flatMap(({ oldest }) => oldest ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };
}

async function checkDrained(context: ConsumeContext, partitions: readonly OwnedPartition[]): Promise<void> {
  const idle: Promise<void>[] = [];
  for (const owned of partitions) {
    if (owned.checking || parkedBy(owned).length === 0) continue;
    owned.checking = true;
    const done = serially(owned, () => giveBack(context, owned)).finally(() => {
      owned.checking = false;
    });
    if (owned.batch === undefined) idle.push(done);
  }
  await Promise.all(idle);
}
