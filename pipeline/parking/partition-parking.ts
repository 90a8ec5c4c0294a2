/**
 * What one partition knows about its parked index sets: how far each must be drained before newer messages are written
 * again.
 */
import { pause } from '../../core/wait.js';
import type { ParkingTopics } from './topics.js';

/** From here on a partition waits for the drain with its next batch, so that the set is given back under load too. */
const nearRecords = 10_000;
const nearPatienceMs = 3_000;
/**
 * Else it waits this long at the most, until the drain has got further than it parks: a drain must not stay slower than
 * the inflow for ever.
 */
const pacePatienceMs = 1_000;
const pollMs = 100;

export interface PartitionParking {
  /** The partition is taken over anew: others may have parked meanwhile. */
  reset(): void;
  /** Before messages are appended to the set's parking topic. */
  appended(indexSet: string): void;
  /** Whether all that the partition has parked is stored, durably. Only while nothing is being appended. */
  isDrained(indexSet: string): Promise<boolean>;
  /**
   * Before the next batch: waits a little where that brings the end of the parking nearer. Rule 9 lets newer writes
   * wait, too.
   */
  awaitDrain(indexSet: string, signal: AbortSignal): Promise<void>;
}

export function createPartitionParking(parkingTopics: ParkingTopics): PartitionParking {
  /** Log end of the parking topic as it was read after the partition's last append. */
  const ends = new Map<string, number>();
  /** What was left to drain at the batch before. */
  const left = new Map<string, number>();
  return {
    reset: () => ends.clear(),
    appended: (indexSet) => void ends.delete(indexSet),
    async isDrained(indexSet) {
      const end = ends.get(indexSet) ?? (await parkingTopics.logEnd(indexSet));
      ends.set(indexSet, end);
      const { drainedTo } = await parkingTopics.progress(indexSet);
      return drainedTo >= end;
    },
    async awaitDrain(indexSet, signal) {
      const begun = performance.now();
      let { drainedTo, logEnd, moving } = await parkingTopics.progress(indexSet);
      const near = logEnd - drainedTo <= nearRecords;
      const enough = near ? 0 : Math.min(left.get(indexSet) ?? Infinity, logEnd - drainedTo) - 1;
      while (
        moving &&
        logEnd - drainedTo > enough &&
        performance.now() - begun < (near ? nearPatienceMs : pacePatienceMs) &&
        !signal.aborted
      ) {
        await pause(pollMs, signal);
        ({ drainedTo, logEnd, moving } = await parkingTopics.progress(indexSet));
      }
      left.set(indexSet, logEnd - drainedTo);
    },
  };
}
