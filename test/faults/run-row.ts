/** One row: load, fault, healing, full speed again, everything worked off, reckoning. */
import { setTimeout as wait } from 'node:timers/promises';
import { workedOff } from './acting.js';
import type { EngineSet } from './world/own-engines.js';
import type { OutputReckoning } from './outputs/reckoning.js';
import type { Reckoning } from './judging/reckoning.js';
import type { Row } from './row.js';
import { measureSpeed, secondsToFullSpeed, type Speed } from './judging/speed.js';
import type { Progress, World } from './world/world.js';

export type Load = 'light' | 'full';

export interface RowResult {
  readonly row: string;
  readonly engines: EngineSet;
  readonly load: Load;
  readonly seed: number;
  /** How long an engine was away, and how often a fault came that comes again and again. */
  readonly awayMs?: number | undefined;
  readonly rounds?: number | undefined;
  /** Messages a second that the senders offered. */
  readonly rate: number;
  readonly sent: number;
  readonly accepted: number;
  readonly stored: number;
  readonly deadLetters: number;
  readonly resent: number;
  readonly missing: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  /** Answered with 202 and not in the topic. */
  readonly unaccepted: number;
  /** Only for rows about outputs. */
  readonly outputs?: OutputReckoning | undefined;
  /** Undefined: not within the time that was waited. */
  readonly seconds: number | undefined;
  /** Undefined: nothing failed. */
  readonly error: string | undefined;
  readonly at: string;
}

interface RowOptions {
  readonly load: Load;
  readonly seed: number;
  /** What earlier rows of this world left. */
  readonly before: Reckoning | undefined;
  readonly onPhase: (phase: string) => void;
}

interface RowRun {
  readonly result: RowResult;
  readonly reckoning: Reckoning | undefined;
}

const settleMs = 1_000;
const speedMs = 1_500;
const fullSpeedPatienceMs = 60_000;

export async function runRow(world: World, row: Row, options: RowOptions): Promise<RowRun> {
  const { load, seed, before, onPhase } = options;
  const traffic = world.startTraffic();
  let sent: number | undefined;
  let seconds: number | undefined;
  let reckoning: Reckoning | undefined;
  let outputs: OutputReckoning | undefined;
  const read = (): Promise<Progress> => row.progress?.(world) ?? world.progress();
  let error: string | undefined;
  try {
    onPhase('load');
    await wait(settleMs);
    const speed = await measureSpeed(read, speedMs);
    const since = await actOut(world, row, onPhase);
    onPhase('waiting for full speed');
    seconds = await fullSpeed(read, load, speed, since);
    sent = await traffic.stop();
    onPhase('working off');
    await workedOff(world);
    await row.settle?.(world);
    await workedOff(world);
    onPhase('reckoning');
    const program = await world.answering();
    await program.control.request('POST', '/refresh', {});
    reckoning = await world.reckoner.reckon(program, traffic.acknowledged());
    outputs = await row.reckonOutputs?.(world);
    const accepted = countsOf(reckoning, before).accepted;
    if (row.acceptsAll === true && accepted < sent)
      error = `${sent - accepted} messages were sent and not accepted, although the receiver was there`;
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  } finally {
    sent ??= await traffic.stop();
  }
  const counts = countsOf(reckoning, before);
  return {
    reckoning,
    result: {
      row: row.name,
      engines: world.set,
      load,
      seed,
      awayMs: world.awayMs,
      rounds: world.rounds,
      rate: Math.round(world.rate),
      sent,
      ...counts,
      seconds,
      error: error ?? samplesOf(reckoning, counts) ?? outputSamples(outputs),
      outputs,
      at: new Date().toISOString(),
    },
  };
}

async function actOut(world: World, row: Row, onPhase: (phase: string) => void): Promise<number> {
  onPhase('fault');
  await row.inject(world);
  onPhase('healing');
  await row.heal?.(world);
  return performance.now();
}

async function fullSpeed(
  read: () => Promise<Progress>,
  load: Load,
  speed: Speed,
  since: number,
): Promise<number | undefined> {
  const seconds = await secondsToFullSpeed(read, speed, since, load === 'full', fullSpeedPatienceMs);
  return seconds === undefined ? undefined : Math.round(seconds * 10) / 10;
}

type Counts = Pick<
  RowResult,
  'accepted' | 'stored' | 'deadLetters' | 'resent' | 'missing' | 'doubled' | 'outOfOrder' | 'unaccepted'
>;

function countsOf(now: Reckoning | undefined, before: Reckoning | undefined): Counts {
  const grown = (count: (reckoning: Reckoning) => number): number =>
    now === undefined ? 0 : count(now) - (before === undefined ? 0 : count(before));
  return {
    accepted: grown(({ accepted }) => accepted),
    stored: grown(({ stored }) => stored),
    deadLetters: grown(({ deadLetters }) => deadLetters),
    resent: grown(({ resent }) => resent),
    missing: grown(({ missing }) => missing.length),
    doubled: grown(({ doubled }) => doubled.length),
    outOfOrder: grown(({ outOfOrder }) => outOfOrder),
    unaccepted: now?.unaccepted.length ?? 0,
  };
}

/** Some ids to begin the search with. */
function samplesOf(reckoning: Reckoning | undefined, counts: Counts): string | undefined {
  if (reckoning === undefined || counts.missing + counts.doubled + counts.unaccepted + counts.outOfOrder === 0)
    return undefined;
  const some = (ids: readonly string[]): string => ids.slice(-3).join(', ');
  return `missing ${some(reckoning.missing)}; doubled ${some(reckoning.doubled)}; unaccepted ${some(reckoning.unaccepted)}`;
}

function outputSamples(outputs: OutputReckoning | undefined): string | undefined {
  return outputs === undefined || outputs.missing === 0
    ? undefined
    : `missing at destinations: ${outputs.samples.join(', ')}`;
}

/** Nothing lost, nothing doubled, nothing out of order, and full speed again in time. */
const secondsAllowed = 10;

export function isExact(result: RowResult): boolean {
  return (
    result.error === undefined &&
    result.accepted > 0 &&
    result.missing === 0 &&
    result.doubled === 0 &&
    result.outOfOrder === 0 &&
    result.unaccepted === 0 &&
    result.stored === result.accepted &&
    (result.outputs?.missing ?? 0) === 0 &&
    (result.outputs?.outOfOrder ?? 0) === 0
  );
}

export function isInTime(result: RowResult): boolean {
  return result.seconds !== undefined && result.seconds <= secondsAllowed;
}
