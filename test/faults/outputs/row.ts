/** A row whose fault is in the destinations of outputs: for one output, and for every second one of twenty. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../program.js';
import type { Judgement } from './deliveries.js';
import type { Destinations } from './destinations.js';
import type { OutputReckoning } from './reckoning.js';
import type { Row } from '../row.js';
import type { World } from '../world/world.js';

interface OutputFault {
  readonly name: string;
  readonly title: string;
  readonly answers: string;
  readonly tls?: boolean;
  /** More than buffers on the way take within the fault. */
  readonly largeMessages?: boolean;
  readonly missing?: () => string | undefined;
  /** Begins the fault; may go on with it until the signal comes. */
  readonly begin: (destinations: Destinations, signal: AbortSignal) => Promise<void> | void;
  readonly end: (destinations: Destinations) => Promise<void> | void;
}

/** An output's own buffers for each destination are bounded by 8.5 MiB and a batch; anything beyond is a leak. */
const growthAllowed = (outputs: number): number => 200 * 2 ** 20 + outputs * 12 * 2 ** 20;
const sampleMs = 500;
/** Bytes of padding of a message; at 1,000 a second the systems' buffers are full after two to four seconds. */
const largePadding = (outputs: number): number => (outputs === 1 ? 1_800 : 700);
/** Share of the speed before the fault that counts as full speed. */
const fullShare = 0.8;

export function outputRows(fault: OutputFault): readonly Row[] {
  return [1, 20].map((count) => outputRow(fault, count));
}

function outputRow(fault: OutputFault, count: number): Row {
  const meanwhile = new WeakMap<World, Meanwhile>();
  return {
    name: count === 1 ? fault.name : `${fault.name}-${count}`,
    title: `${fault.title}, ${count === 1 ? 'one output' : `every second one of ${count} outputs`}`,
    sets: ['embedded', 'cluster'],
    answers: fault.answers,
    needs: {
      outputs: { count, tls: fault.tls === true },
      ...(fault.largeMessages === true ? { padding: largePadding(count) } : {}),
    },
    missing: () => fault.missing?.(),
    inject: async (world) => {
      await everyOneBegan(world);
      const begun = await speedOf(world, () => wait(Math.min(world.awayMs, 3_000)));
      const over = new AbortController();
      const acting = Promise.resolve(fault.begin(world.destinations, over.signal));
      const during = await speedOf(world, () => wait(world.awayMs));
      over.abort();
      await acting;
      meanwhile.set(world, { before: begun, during });
    },
    heal: async (world) => fault.end(world.destinations),
    progress: async (world) => {
      const progress = await world.progress();
      // What has arrived and waits for its confirmation is not behind.
      return {
        ...progress,
        lag: Math.max(
          progress.lag,
          progress.accepted - Math.min(...world.destinations.all.map(({ deliveries }) => deliveries.count())),
        ),
      };
    },
    settle: sentEverything,
    reckonOutputs: async (world) => reckon(world, meanwhile.get(world)),
  };
}

interface Speeds {
  /** Messages a second that came to the slowest of the sound destinations. */
  readonly others: number | undefined;
  readonly processed: number;
  /** Messages that index sets, and the slowest of the sound destinations, were behind at the end. */
  readonly lag: number;
  readonly behind: number;
  /** Most memory of the process with the outputs. */
  readonly memory: number;
}

interface Meanwhile {
  readonly before: Speeds;
  readonly during: Speeds;
}

async function speedOf(world: World, action: () => Promise<void>): Promise<Speeds> {
  const counts = (): number[] => world.destinations.sound.map(({ deliveries }) => deliveries.count());
  const [from, fromCounts, at] = [await world.progress(), counts(), performance.now()];
  let memory = memoryOf(world);
  const timer = setInterval(() => {
    memory = Math.max(memory, memoryOf(world));
  }, sampleMs);
  await action();
  clearInterval(timer);
  const [to, toCounts, seconds] = [await world.progress(), counts(), (performance.now() - at) / 1000];
  const speeds = toCounts.map((count, place) => (count - (fromCounts[place] as number)) / seconds);
  return {
    others: speeds.length === 0 ? undefined : Math.min(...speeds),
    lag: to.lag,
    behind: to.accepted - Math.min(to.accepted, ...toCounts),
    processed: (to.accepted - to.lag - from.accepted + from.lag) / seconds,
    memory,
  };
}

function memoryOf(world: World): number {
  const text = readFileSync(`/proc/${world.outputProcess.program().child.pid}/status`, 'latin1');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

/** Twenty consumer groups take a while to join; speeds count from when every destination gets messages. */
async function everyOneBegan({ destinations }: World): Promise<void> {
  await until(
    () => (destinations.all.every(({ deliveries }) => deliveries.count() > 0) ? true : undefined),
    60_000,
    () => 'not every destination gets messages',
  );
}

async function sentEverything(world: World): Promise<void> {
  let last = 'nothing is known';
  await until(
    async () => {
      const lag = await world.outputsLag();
      last = `${lag} messages of the slowest output are left`;
      return lag === 0 ? true : undefined;
    },
    180_000,
    () => last,
  );
}

/** What earlier rows of a world left at its destinations. */
const earlierOf = new WeakMap<World, readonly Judged[]>();

type Judged = Judgement & { readonly id: string };

function judge(world: World): Judged[] {
  const accepted = world.reckoner.names();
  return world.destinations.all.map(({ id, deliveries }) => ({ id, ...deliveries.judge(accepted) }));
}

function reckon(world: World, seen: Meanwhile | undefined): OutputReckoning {
  const all = judge(world);
  const judged = all.map(({ delivered, repeated, outOfOrder, ...one }, at) => {
    const earlier = earlierOf.get(world)?.[at];
    return {
      ...one,
      delivered: delivered - (earlier?.delivered ?? 0),
      repeated: repeated - (earlier?.repeated ?? 0),
      outOfOrder: outOfOrder - (earlier?.outOfOrder ?? 0),
    };
  });
  earlierOf.set(world, all);
  const { before, during } = seen ?? { before: undefined, during: undefined };
  const share = (value: number | undefined, of: number | undefined): number | undefined =>
    value === undefined || of === undefined || of <= 0 ? undefined : Math.round((value / of) * 100) / 100;
  const others = share(during?.others, before?.others);
  const processed = share(during?.processed, before?.processed);
  const growth = (during?.memory ?? 0) - (before?.memory ?? 0);
  return {
    outputs: judged.length,
    delivered: Math.min(...judged.map(({ delivered }) => delivered)),
    missing: sum(judged.map(({ missing }) => missing.length)),
    samples: judged.flatMap(({ id, missing }) => missing.slice(0, 2).map((name) => `${id} ${name}`)).slice(0, 6),
    repeated: sum(judged.map(({ repeated }) => repeated)),
    outOfOrder: sum(judged.map(({ outOfOrder }) => outOfOrder)),
    others,
    processed,
    growth,
    heldUp: isHeldUp(others, during?.behind, world.rate) || isHeldUp(processed, during?.lag, world.rate),
    grew: growth > growthAllowed(judged.length),
  };
}

/** Speeds are known to a batch; who is less than so many seconds of load behind has only been seen between two. */
const secondsBehind = 1.5;

function isHeldUp(ofSpeed: number | undefined, behind = 0, rate: number): boolean {
  return ofSpeed !== undefined && ofSpeed < fullShare && behind > rate * secondsBehind;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
