/** One partition that this process has: the state of its delivery, and the batch under way. */
import { errorText, isSluiceError } from '../../core/errors.js';
import { retry } from '../../core/retry/retry.js';
import type { Assignment, ConsumedBatch } from '../../topics/contract.js';
import { unassigned, type PartitionState } from '../delivery/partition-state.js';
import type { ResendCheck } from '../delivery/sequences.js';
import { pipelineErrors } from '../errors.js';
import type { IndexBatch } from '../index-batch.js';
import { createPartitionParking, type PartitionParking } from '../parking/partition-parking.js';
import type { ConsumeContext } from './context.js';
import { longestPauseMs } from './deliver-batch.js';
import { pipelineEvents } from '../events.js';

export interface OwnedPartition {
  readonly topic: string;
  /** Of the topic. */
  readonly generation: number;
  readonly partition: number;
  /** Of the assignment: proof of ownership before the first batch. */
  readonly fence: () => Promise<void>;
  readonly parking: PartitionParking;
  state: PartitionState;
  batch: ConsumedBatch | undefined;
  /** Of the batch under way. */
  check: ResendCheck | undefined;
  /** Of the batch under way: what is to be parked when the record says so. */
  blocked: readonly IndexBatch[];
  /** Receive time of the first record of the batch under way. */
  oldest: number | undefined;
  /** A check of what is drained waits for its turn. */
  checking: boolean;
  /** Why the last event made the machine give the partition up. */
  abandoned: string | undefined;
  /** What the last event allowed to commit. */
  committed: { readonly commit: number; readonly metadata: string } | undefined;
  /** What is done to this partition is done one after the other. */
  tail: Promise<unknown>;
  /** The partition was taken away. */
  gone: boolean;
}

export function createOwnedPartition(
  { parkingTopics }: ConsumeContext,
  { topic, partition, fence }: Assignment,
  generation: number,
): OwnedPartition {
  return {
    topic,
    generation,
    partition,
    fence,
    parking: createPartitionParking(parkingTopics),
    state: unassigned,
    batch: undefined,
    check: undefined,
    blocked: [],
    oldest: undefined,
    checking: false,
    abandoned: undefined,
    committed: undefined,
    tail: Promise.resolve(),
    gone: false,
  };
}

export const placeOf = ({ topic, partition }: Pick<OwnedPartition, 'topic' | 'partition'>): string =>
  `${topic}/${partition}`;

/** Index sets whose messages this partition parks. */
export const parkedBy = (owned: OwnedPartition): readonly string[] =>
  Object.keys(owned.state.stored?.record.parked ?? {});

export function serially<Result>(owned: OwnedPartition, work: () => Promise<Result>): Promise<Result> {
  const done = owned.tail.then(work);
  owned.tail = done.catch(() => undefined);
  return done;
}

/** Repeats while the engine is away; gives up when the partition is lost or the program stops. */
export function whileOwned<Result>(
  { signal, log }: ConsumeContext,
  owned: OwnedPartition,
  action: () => Promise<Result>,
): Promise<Result> {
  return retry(action, {
    firstMs: 100,
    longestMs: longestPauseMs,
    signal,
    shouldRetry(thrown) {
      if (isSluiceError(thrown) && !thrown.retryable) return false;
      if (signal.aborted || owned.gone || owned.batch?.revoked() === true)
        throw pipelineErrors.create('PIPELINE_PARTITION_LOST', { place: placeOf(owned), cause: thrown });
      return true;
    },
    onRetry: (thrown) =>
      pipelineEvents.engineAwaited(log, { topic: owned.topic, partition: owned.partition, error: errorText(thrown) }),
  });
}
