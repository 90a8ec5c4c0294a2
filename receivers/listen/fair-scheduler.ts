/**
 * Shares the event loop between senders. One turn of it serves every socket that is ready, up to two megabytes each:
 * with hundreds of busy ones, or hundreds that close in the middle of a large frame, everybody else would wait for all
 * of them. What waits takes turns by address, so that a sender of one connection does not stand behind all connections
 * of another.
 */

import { at } from '../../core/at.js';

/** Bytes that may wait for their turn; beyond, they are taken at once. */
const maxWaitingBytes = 64 * 2 ** 20;

/** What connections may take of one turn of the event loop; the rest waits for the next. */
const shareMs = 4;

export interface FairScheduler {
  /** True: this turn's share is used up, or others of this address wait already; use `later`. */
  over(address: string): boolean;
  /**
   * Runs in order within an address, when a turn has time for it. Never lost: `stop` runs what waits. `bytes`: what the
   * work holds until then.
   */
  later(address: string, bytes: number, work: () => void): void;
  /** Runs all that waits now. */
  stop(): void;
}

/** Done entries at the head of a queue that never empties, before they are let go. */
const keptDone = 1_000;

interface Waiting {
  readonly bytes: number;
  readonly work: () => void;
}

export function createFairScheduler(now: () => number = () => performance.now()): FairScheduler {
  /** The address whose turn is next comes first. */
  const waiting = new Map<string, { items: Waiting[]; at: number }>();
  let waitingBytes = 0;
  let began: number | undefined;
  let scheduled = false;
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(next);
  };
  const runOne = (): boolean => {
    for (const [address, queue] of waiting) {
      const { bytes, work } = at(queue.items, queue.at);
      queue.at += 1;
      if (queue.at >= keptDone) queue.items.splice(0, queue.at);
      if (queue.at >= keptDone) queue.at = 0;
      waiting.delete(address);
      if (queue.at < queue.items.length) waiting.set(address, queue);
      waitingBytes -= bytes;
      work();
      return true;
    }
    return false;
  };
  const next = () => {
    scheduled = false;
    began = undefined;
    if (waiting.size === 0) return;
    began = now();
    while (runOne() && now() - began <= shareMs);
    schedule();
  };
  return {
    over: (address) => {
      schedule();
      began ??= now();
      return waitingBytes < maxWaitingBytes && (waiting.has(address) || now() - began > shareMs);
    },
    later: (address, bytes, work) => {
      const queue = waiting.get(address);
      if (queue === undefined) waiting.set(address, { items: [{ bytes, work }], at: 0 });
      else queue.items.push({ bytes, work });
      waitingBytes += bytes;
      schedule();
    },
    stop: () => {
      while (runOne());
    },
  };
}
