/** What several rows do. */
import { setTimeout as wait } from 'node:timers/promises';
import kafkajs, { type Admin } from 'kafkajs';
import { until } from '../program.js';
import type { HttpFault, HttpProxy } from './causes/http-proxy.js';
import type { Process, World } from './world/world.js';

export const pause = (milliseconds: number): Promise<void> => wait(milliseconds);

/** A moment that the seed decides. */
const someTime = (world: World, least: number, most: number): Promise<void> =>
  wait(least + world.random() * (most - least));

export async function repeat(world: World, action: (round: number) => Promise<void>): Promise<void> {
  for (let round = 1; round <= world.rounds; round += 1) {
    await someTime(world, 400, 1_500);
    await action(round);
  }
}

/** What a row waits for must come in time; else the row has not tested what it says. */
export async function inTime<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what}: not within ${waitMostMs / 1000} s`)), waitMostMs);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** The longest that one step of a row may take. */
const waitMostMs = 60_000;

/** kill -9 again and again; the last start is left to `startAgain`. */
export async function killAgainAndAgain(world: World, program: Process): Promise<void> {
  await repeat(world, async (round) => {
    await program.end('SIGKILL');
    if (round < world.rounds) await program.start();
  });
}

/**
 * A fault of the proxy that kills the first processor (-9) in place of an answer; `killed` resolves when it is gone.
 */
export function cutByKill({ processors: [processor] }: World): {
  readonly fault: HttpFault;
  readonly killed: Promise<void>;
} {
  let gone: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    gone = resolve;
  });
  return { fault: { kind: 'cut', act: () => processor.end('SIGKILL').then(gone) }, killed };
}

/** Not waited for: seconds to full speed count from here. */
export async function startAgain(program: Process): Promise<void> {
  const started = program.start();
  // A failed start shows as a system that never reaches full speed.
  started.catch(() => undefined);
}

interface Held {
  /** Resolves when a request waits at the proxy. */
  readonly arrived: Promise<void>;
  release(): void;
}

/** The next request that matches waits in the proxy until it is released. */
export function holdNext(proxy: HttpProxy, matches?: (method: string, path: string) => boolean): Held {
  let release: () => void = () => undefined;
  let onHeld: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    onHeld = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fault: HttpFault = { kind: 'held', released, onHeld };
  proxy.inject({ fault, times: 1, ...(matches === undefined ? {} : { matches }) });
  return { arrived, release };
}

/** A processor's session of six seconds is over by then. */
const pastSessionMs = 8_000;

/** When the partitions of a paused processor are in other hands. */
export async function takenOver(world: World): Promise<void> {
  await wait(pastSessionMs);
  await caughtUp(world);
}

export async function caughtUp(world: World): Promise<void> {
  await until(
    async () => {
      const progress = await world.progress().catch(() => undefined);
      return progress !== undefined && progress.lag < world.rate * 1.5 ? true : undefined;
    },
    waitMostMs,
    () => 'nobody works on the topic',
  );
}

/** When everything accepted is committed. */
export async function workedOff(world: World): Promise<void> {
  let last = 'nothing is known';
  await until(
    async () => {
      const progress = await world.progress().catch((thrown: unknown) => {
        last = String(thrown);
        return undefined;
      });
      if (progress !== undefined) last = `${progress.lag} of ${progress.accepted} left`;
      return progress?.lag === 0 ? true : undefined;
    },
    180_000,
    () => `the backlog was not worked off: ${last}`,
  );
}

/** An operator's block, on the concrete indices of a set that there are. */
export async function blockSet(world: World, indexSet: string, blocked: boolean): Promise<void> {
  await world.openSearch('PUT', `/${indexSet}_*/_settings`, { 'index.blocks.read_only': blocked ? true : null });
}

interface Parked {
  readonly index_set: string;
  readonly state: 'blocked' | 'draining' | 'drained';
  readonly messages: number;
}

const parkedSets = async (world: World): Promise<readonly Parked[]> =>
  ((await (await world.answering()).control.request('GET', '/parking')) as { index_sets: readonly Parked[] })
    .index_sets;

export async function parked(world: World, indexSet: string): Promise<void> {
  await until(
    async () =>
      (await parkedSets(world)).some(
        ({ index_set: id, state, messages }) => id === indexSet && state === 'blocked' && messages > 0,
      )
        ? true
        : undefined,
    60_000,
    () => `${indexSet} was not parked`,
  );
}

export async function drained(world: World): Promise<void> {
  let last: readonly Parked[] = [];
  await until(
    async () => {
      last = await parkedSets(world);
      return last.every(({ state, messages }) => state === 'drained' && messages === 0) ? true : undefined;
    },
    120_000,
    () => `not drained: ${JSON.stringify(last)}`,
  );
}

/** Keeps what the indices hold for the reckoning, then lets retention run. */
export async function retire(world: World): Promise<void> {
  const program = await world.answering();
  await program.control.request('POST', '/refresh', {});
  await world.reckoner.remember(program);
  await world.retire();
}

/** Retention runs only when a row asks for it, so that what it removes is known. */
export const retentionByRequest = { processing: { retention_check_ms: 24 * 3_600_000 } };
/**
 * More documents than a row sends: an index that is rotated by itself between the look at its ids and its removal would
 * take some along that nobody saw.
 */
export const rotatedOnlyByRequest = 100_000_000;
export const parkSoon = { processing: { park_after_ms: 2_000 } };

export async function withKafka<Result>(world: World, use: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = new kafkajs.Kafka({
    clientId: 'fault-table',
    brokers: [...(world.own?.brokers ?? [])],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}
