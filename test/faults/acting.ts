/** What several rows do. */
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../program.js';
import type { HttpFault, HttpProxy } from './http-proxy.js';
import type { Process, World } from './world.js';

export const pause = (milliseconds: number): Promise<void> => wait(milliseconds);

/** A moment that the seed decides. */
export const someTime = (world: World, least: number, most: number): Promise<void> => wait(least + world.random() * (most - least));

export async function repeat(world: World, action: (round: number) => Promise<void>): Promise<void> {
  for (let round = 1; round <= world.rounds; round += 1) {
    await someTime(world, 400, 1_500);
    await action(round);
  }
}

/** kill -9 again and again; the last start is left to `startAgain`. */
export async function killAgainAndAgain(world: World, process: Process): Promise<void> {
  await repeat(world, async (round) => {
    await process.end('SIGKILL');
    if (round < world.rounds) await process.start();
  });
}

/** Not waited for: seconds to full speed count from here. */
export async function startAgain(process: Process): Promise<void> {
  const started = process.start();
  // A failed start shows as a system that never reaches full speed.
  started.catch(() => undefined);
}

export interface Held {
  /** Resolves when a request waits at the proxy. */
  readonly arrived: Promise<void>;
  release(): void;
}

/** The next request that matches waits in the proxy until it is released. */
export function holdNext(proxy: HttpProxy, matches?: (method: string, path: string) => boolean): Held {
  let release: () => void = () => undefined;
  let onHeld: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => { onHeld = resolve; });
  const released = new Promise<void>((resolve) => { release = resolve; });
  const fault: HttpFault = { kind: 'held', released, onHeld };
  proxy.inject({ fault, times: 1, ...(matches === undefined ? {} : { matches }) });
  return { arrived, release };
}

/** Of Kafka's consumer groups: when the paused one's partitions are in other hands. */
export async function workedOffBy(world: World, patienceMs: number): Promise<void> {
  await until(async () => {
    const progress = await world.progress().catch(() => undefined);
    return progress !== undefined && progress.lag < world.rate * 1.5 ? true : undefined;
  }, patienceMs, () => 'nobody worked on the partitions of the paused processor');
}

export async function blockIndices(world: World, indices: string, blocked: boolean): Promise<void> {
  await world.openSearch('PUT', `/${indices}/_settings`, { 'index.blocks.read_only': blocked ? true : null });
}
