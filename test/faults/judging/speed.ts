/** When a system is at full speed again after a fault: judged from how its topics grow and are worked off. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Progress } from '../world/world.js';

interface Sample extends Progress {
  readonly at: number;
}

/** Messages a second, before the fault. */
export interface Speed {
  readonly accepted: number;
  readonly processed: number;
}

const sampleMs = 300;
/** A speed is that of this time. */
const windowMs = 1_000;
/** Share of the speed before the fault that counts as full speed. */
const fullShare = 0.8;

const processedOf = ({ accepted, lag }: Progress): number => accepted - lag;

export async function measureSpeed(read: () => Promise<Progress>, milliseconds: number): Promise<Speed> {
  const [before, from] = [await read(), performance.now()];
  await wait(milliseconds);
  const [after, seconds] = [await read(), (performance.now() - from) / 1000];
  return {
    accepted: (after.accepted - before.accepted) / seconds,
    processed: (processedOf(after) - processedOf(before)) / seconds,
  };
}

/**
 * Seconds from `since` (of `performance.now()`) to full speed: messages are accepted and processed as fast as before,
 * and the backlog is below one second of load, at the beginning of a second and at its end: just after a fault there is
 * none yet. At full load, where no time is left to work off what the fault kept back, the backlog does not count.
 */
export async function secondsToFullSpeed(
  read: () => Promise<Progress>,
  before: Speed,
  since: number,
  atFullLoad: boolean,
  waitMostMs: number,
): Promise<number | undefined> {
  const samples: Sample[] = [];
  while (performance.now() < since + waitMostMs) {
    const progress = await read().catch(() => undefined);
    if (progress !== undefined) samples.push({ ...progress, at: performance.now() });
    const found = samples.find((sample) => isFull(sample, samples, before, atFullLoad));
    if (found !== undefined) return Math.max(0, found.at - since) / 1000;
    await wait(sampleMs);
  }
  return undefined;
}

function isFull(from: Sample, samples: readonly Sample[], before: Speed, atFullLoad: boolean): boolean {
  const to = samples.find(({ at }) => at >= from.at + windowMs);
  if (to === undefined) return false;
  const seconds = (to.at - from.at) / 1000;
  const accepted = (to.accepted - from.accepted) / seconds;
  const processed = (processedOf(to) - processedOf(from)) / seconds;
  if (accepted < before.accepted * fullShare || processed < before.processed * fullShare) return false;
  return atFullLoad || Math.max(from.lag, to.lag) < before.accepted;
}
