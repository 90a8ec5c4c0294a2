/**
 * Retention as `sinks/index-sets/retention/retirement.ts` does it, one read or write at a time; several processors may
 * run it at once.
 */
import { isPassed, type PartitionRecord } from '../../../../pipeline/delivery/records.js';
import { removeIndex, setOfIndex } from './store.js';
import { latestEpoch, type IndexSet, type Partition, type World } from './world.js';

export interface RetentionRun {
  readonly name: string;
  /** Marked as retiring when the run began. */
  retiring: string[];
  epochs: number;
  partitions: {
    readonly partition: Partition;
    readonly committed: number | undefined;
    record: PartitionRecord | undefined;
  }[];
  stage: 'marks' | 'committed' | 'records' | 'decide' | 'remove' | 'mark';
}

export const createRetentionRun = (name: string): RetentionRun => ({
  name,
  retiring: [],
  epochs: 0,
  partitions: [],
  stage: 'marks',
});

/** An index that is no longer the newest of its set is to go. */
export function markRetiring(world: World): boolean {
  const newest = new Set(Object.values(world.epochs[latestEpoch(world)]?.indices ?? {}));
  const old = [...world.marks].filter(([name, { state }]) => state === 'open' && !newest.has(name));
  const chosen = old[world.random.pick(old.length)];
  if (chosen === undefined) return false;
  const [name, mark] = chosen;
  const action = world.random.chance(0.8) ? 'delete' : 'close';
  world.marks.set(name, { ...mark, state: 'retiring', action });
  world.note?.(`retention: ${name} is to go (${action})`);
  return true;
}

/** True when the run has ended. */
export function advanceRetention(world: World, run: RetentionRun): boolean {
  switch (run.stage) {
    case 'marks':
      run.retiring = [...world.marks].filter(([, { state }]) => state === 'retiring').map(([name]) => name);
      run.epochs = world.epochs.length;
      run.stage = 'committed';
      return run.retiring.length === 0;
    case 'committed':
      run.partitions = world.partitions.map((partition) => ({
        partition,
        committed: partition.committed?.offset,
        record: undefined,
      }));
      run.stage = 'records';
      return false;
    case 'records':
      // A partition that came in between has no commit.
      for (const partition of world.partitions.slice(run.partitions.length))
        run.partitions.push({ partition, committed: undefined, record: undefined });
      for (const each of run.partitions) each.record = each.partition.record?.record;
      run.stage = 'decide';
      return false;
    case 'decide':
      run.retiring = run.retiring.filter((name) => world.without.has('rule-7') || mayGo(world, run, name));
      run.stage = 'remove';
      return run.retiring.length === 0;
    case 'remove': {
      const name = run.retiring[0] as string;
      const index = world.indices.get(name);
      if (world.marks.get(name)?.action === 'close' && index !== undefined) index.closed = true;
      else removeIndex(world, name);
      world.note?.(`${run.name}: ${name} is gone`);
      run.stage = 'mark';
      return false;
    }
    case 'mark': {
      const name = run.retiring.shift() as string;
      const mark = world.marks.get(name);
      if (mark?.state === 'retiring')
        world.marks.set(name, { ...mark, state: mark.action === 'close' ? 'closed' : 'deleted' });
      run.stage = 'remove';
      return run.retiring.length === 0;
    }
  }
}

/** Dead letters go to one set alone, and may be silent for ever. */
function mayGo(world: World, run: RetentionRun, name: string): boolean {
  const set = setOfIndex(name);
  const epochs = new Map(world.epochs.slice(0, run.epochs).map((epoch) => [epoch.number, epoch]));
  const writing = run.partitions.flatMap(({ partition, committed, record }) =>
    record === undefined || (partition.topic === 'dead' && set !== 'dead') ? [] : [{ committed, record }],
  );
  return isPassed(name, epochs, writing) && isPassed(name, epochs, formerlyParked(world, set));
}

/**
 * A topic that was made again left its parked messages behind. Its ranges have no end that matters: only what is parked
 * holds an index.
 */
function formerlyParked(
  world: World,
  set: IndexSet,
): { readonly record: PartitionRecord; readonly committed: number }[] {
  if (world.without.has('rule-7-former') || (world.drained.get(set) ?? 0) >= (world.parking.get(set)?.length ?? 0))
    return [];
  const parked = world.partitions
    .flatMap(({ former }) => former)
    .filter((record) => record.parked?.[set] !== undefined);
  return parked.map((record) => ({ record, committed: Number.MAX_SAFE_INTEGER }));
}
