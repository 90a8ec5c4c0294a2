/**
 * Which messages of an output's topic stood there before. A redelivery of logs appends again what had been appended;
 * ids are run, partition and sequence, so a window of bits for each run and partition tells exactly, and never takes a
 * new message for an old one.
 */
import { prefixWidth, sequenceOf } from '../../core/message-ids.js';

/** Sequences remembered of one run and partition: far more than a redelivered batch has. */
const windowSize = 65_536;
/** Runs and partitions remembered; 8 KiB each. */
const maxLanes = 64;

interface Lane {
  readonly bits: Uint32Array;
  /** Highest sequence seen; the window ends there. */
  highest: number;
}

export interface Repeats {
  /** True when this id has been seen within the window; remembers it. */
  seen(id: string): boolean;
}

export function createRepeats(): Repeats {
  const lanes = new Map<string, Lane>();
  let lastPrefix = '';
  let last: Lane | undefined;

  const laneOf = (id: string, sequence: number): Lane => {
    if (last !== undefined && id.startsWith(lastPrefix)) return last;
    lastPrefix = id.slice(0, prefixWidth);
    let lane = lanes.get(lastPrefix);
    if (lane === undefined) lane = { bits: new Uint32Array(windowSize / 32), highest: sequence - 1 };
    else lanes.delete(lastPrefix);
    lanes.set(lastPrefix, lane);
    if (lanes.size > maxLanes) lanes.delete(lanes.keys().next().value as string);
    last = lane;
    return lane;
  };

  return {
    seen(id) {
      const sequence = sequenceOf(id);
      if (sequence === undefined) return false;
      const lane = laneOf(id, sequence);
      const { bits } = lane;
      if (sequence > lane.highest) {
        if (sequence - lane.highest >= windowSize) bits.fill(0);
        else for (let at = lane.highest + 1; at < sequence; at += 1) clearBit(bits, at % windowSize);
        lane.highest = sequence;
      } else if (sequence <= lane.highest - windowSize) return false;
      else if (hasBit(bits, sequence % windowSize)) return true;
      setBit(bits, sequence % windowSize);
      return false;
    },
  };
}

const hasBit = (bits: Uint32Array, at: number): boolean => (((bits[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1;

function setBit(bits: Uint32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
}

function clearBit(bits: Uint32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) & ~(1 << (at & 31));
}
