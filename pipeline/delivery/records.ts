/** The durable shapes of the delivery protocol (rules 1, 2, 6, 7), kept in the state store. */

import { at } from '../../core/at.js';

/** Rule 1. Immutable; the epoch of an offset alone decides its routing and its index. */
export interface Epoch {
  /** 0, 1, 2, ...: appended by compare-and-set. */
  readonly number: number;
  readonly ruleSetVersion: string;
  /** Concrete index by index set. */
  readonly indices: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; for people only. */
  readonly createdAt: number;
  /** What made it: `start`, `rules`, `rotation`. */
  readonly cause: string;
}

/** Rule 4: offsets reserved ahead with one compare-and-set. A backlog is bound to old rules for at most this many. */
export const reservedSpan = 50_000;

interface Range {
  readonly from: number;
  readonly epoch: number;
}

/**
 * Owners compare by incarnation first: the group's generations begin anew when the coordinator has forgotten the group.
 */
export interface Owner {
  readonly incarnation: number;
  readonly groupGeneration: number;
}

/** Rule 2. One for each topic generation and partition. */
export interface PartitionRecord {
  /** By `from` ascending, at least one; the last has no end. */
  readonly ranges: readonly Range[];
  readonly owner: Owner;
  /** Rule 4: no owner takes an offset at or above this before it has raised it. */
  readonly reserved: number;
  /**
   * Rule 9: by index set, the offset from which this partition may have parked messages that are not known to be
   * drained. Newer messages of such a set are parked too.
   */
  readonly parked?: Readonly<Record<string, number>>;
  /**
   * Rule 7: made by an owner that has not read the marks since. Nothing is written by it; whoever takes it over reads
   * them first.
   */
  readonly unchecked?: true;
}

/** The part of a batch that one epoch decides: offsets from <= o < to. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly epoch: number;
}

export function spansOf(ranges: readonly Range[], from: number, to: number): readonly Span[] {
  const spans: Span[] = [];
  for (let place = 0; place < ranges.length; place += 1) {
    const range = at(ranges, place);
    const end = ranges[place + 1]?.from ?? Number.MAX_SAFE_INTEGER;
    const start = place === 0 ? 0 : range.from;
    const span = { from: Math.max(start, from), to: Math.min(end, to), epoch: range.epoch };
    if (span.from < span.to) spans.push(span);
  }
  return spans;
}

/** Adds a cut; a range that the cut makes empty is replaced. */
export function cutRanges(ranges: readonly Range[], at: number, epoch: number): readonly Range[] {
  const last = ranges.at(-1);
  return [...(last !== undefined && last.from >= at ? ranges.slice(0, -1) : ranges), { from: at, epoch }];
}

/** A set that is parked already keeps its first offset. */
export function parkSets(record: PartitionRecord, indexSets: readonly string[], from: number): PartitionRecord {
  return {
    ...record,
    parked: { ...Object.fromEntries(indexSets.map((indexSet) => [indexSet, from])), ...record.parked },
  };
}

export function unparkSet(record: PartitionRecord, indexSet: string): PartitionRecord {
  const { parked = {}, ...rest } = record;
  const left = Object.entries(parked).filter(([name]) => name !== indexSet);
  return left.length === 0 ? rest : { ...rest, parked: Object.fromEntries(left) };
}

/** Ranges of parked offsets stay: retirement asks them for the indices that parked messages are bound for. */
export function prunedRanges(record: PartitionRecord, committed: number): readonly Range[] {
  return pruneRanges(record.ranges, Math.min(committed, ...Object.values(record.parked ?? {})));
}

/** Leaves out ranges that end at or below the committed offset: nothing is delivered from them again. */
export function pruneRanges(ranges: readonly Range[], committed: number): readonly Range[] {
  let first = 0;
  while (first + 1 < ranges.length && at(ranges, first + 1).from <= committed) first += 1;
  return first === 0 ? ranges : ranges.slice(first);
}

export function ownerBefore(a: Owner, b: Owner): boolean {
  return a.incarnation < b.incarnation || (a.incarnation === b.incarnation && a.groupGeneration < b.groupGeneration);
}

/**
 * Rule 7: whether nothing can be written to the index any more: each range whose epoch names it ends at or below the
 * partition's committed offset, and at or below the offset from which its set is parked. `committed` is undefined for a
 * partition without a commit. It must have been read before the record: a partition says in its record that it parks
 * before it commits. A partition whose newest range is older than the last epoch that names the index may still take
 * that epoch.
 */
export function isPassed(
  index: string,
  epochs: ReadonlyMap<number, Epoch>,
  partitions: readonly { readonly record: PartitionRecord; readonly committed: number | undefined }[],
): boolean {
  const last = Math.max(
    -1,
    ...[...epochs.values()].filter(({ indices }) => Object.values(indices).includes(index)).map(({ number }) => number),
  );
  return partitions.every(
    ({ record, committed }) =>
      (record.ranges.at(-1)?.epoch ?? -1) >= last &&
      record.ranges.every((range, place) => {
        const epoch = epochs.get(range.epoch);
        const indexSets = Object.entries(epoch?.indices ?? {})
          .filter(([, name]) => name === index)
          .map(([indexSet]) => indexSet);
        if (epoch !== undefined && indexSets.length === 0) return true;
        const end = record.ranges[place + 1]?.from;
        const parkedFrom = Object.entries(record.parked ?? {})
          .filter(([indexSet]) => epoch === undefined || indexSets.includes(indexSet))
          .map(([, from]) => from);
        const done = Math.min(committed ?? 0, ...parkedFrom);
        return end !== undefined && committed !== undefined && end <= done;
      }),
  );
}
