/** Runs one seeded world: a stretch of work and faults, then to rest, then the promise is checked. */
import { applyLate } from './bulk.js';
import { advanceDrainer, isIdle, rebalanceDrainers } from './drain.js';
import * as events from './events.js';
import { rebalance } from './group.js';
import { createRandom, type Random } from './random.js';
import { advanceReplay, beginReplay } from './replays.js';
import { advanceRetention, markRetiring } from './retention.js';
import { advance, endSession } from './session.js';
import type { Switch } from './switches.js';
import { unfinished, violation } from './verdict.js';
import { createWorld, type Shape, type World } from './world.js';

export interface RunOptions {
  readonly without?: readonly Switch[];
  readonly note?: (event: string) => void;
  /** Turns with faults; fewer make a shorter trace. */
  readonly turns?: number;
}

export const defaultTurns = 260;
/** A world that is not at rest by then waits for something for ever. */
const maxRestTurns = 6_000;
/** In a world with a slow network bulks without a sender are on their way for this long. */
const slowTurns = 600;

/** Runs the world of a seed to rest; what is wrong with it, or undefined. */
export function simulate(
  seed: number,
  { without = [], note, turns = defaultTurns }: RunOptions = {},
): string | undefined {
  const random = createRandom(seed);
  const world = createWorld(seed, shapeOf(random), new Set(without), note, random);
  const slow = random.chance(0.3);
  const dice = diceOf(world, slow);
  events.firstEpoch(world);
  rebalance(world);
  rebalanceDrainers(world);
  for (let turn = 0; turn < turns; turn += 1) dice[random.pick(dice.length)]?.();
  return comeToRest(world, slow) ?? violation(world);
}

function shapeOf(random: Random): Shape {
  const kind = random.chance(0.2) ? 'marker' : 'id';
  return { kind, partitions: 1 + random.pick(2), processors: kind === 'marker' ? 1 : 2 + random.pick(2) };
}

/** Every event as often as it weighs. A world has some kinds of faults only, so that they meet more often. */
function diceOf(world: World, slow: boolean): readonly (() => void)[] {
  const { random } = world;
  const weights: readonly (readonly [number, boolean, () => void])[] = [
    [70, true, () => work(world)],
    [8, true, () => void events.append(world)],
    [6, true, () => void events.joinGroup(world)],
    [6, true, () => void events.noticeEpoch(world)],
    [2, true, () => void events.revive(world)],
    [slow ? 1 : 4, true, () => late(world)],
    [4, random.chance(0.6), () => void events.resend(world)],
    [3, random.chance(0.7), () => void events.rotate(world)],
    [2, random.chance(0.4), () => void events.changeRules(world)],
    [2, random.chance(0.6), () => void events.kill(world)],
    [3, random.chance(0.6), () => void events.pause(world)],
    [3, true, () => void events.wake(world)],
    [4, true, () => void events.regroup(world)],
    [1, random.chance(0.2), () => void events.forgetGroup(world)],
    [1, random.chance(0.2), () => void events.addPartition(world)],
    [4, random.chance(0.4), () => void events.block(world)],
    [3, random.chance(0.4), () => void events.changeReason(world)],
    [3, random.chance(0.6), () => void (markRetiring(world), events.retain(world))],
    [3, random.chance(0.5), () => void beginReplay(world)],
    [2, random.chance(0.2), () => void events.killStore(world)],
    [1, random.chance(0.2), () => void events.restartReceiver(world)],
    [2, random.chance(0.5), () => void events.remake(world)],
  ];
  return weights.flatMap(([weight, wanted, event]) => (wanted ? Array.from({ length: weight }, () => event) : []));
}

/** One step of a partition, a drainer or a retention run. */
function work(world: World): void {
  const processors = events.running(world);
  const sessions = processors.flatMap((processor) => processor.sessions);
  const drainers = world.drainers.filter(
    (drainer) => processors.includes(drainer.processor) && !isIdle(world, drainer),
  );
  const place = world.random.pick(sessions.length + drainers.length + world.retention.length + world.replays.length);
  const session = sessions[place];
  if (session !== undefined) return advance(world, session);
  const drainer = drainers[place - sessions.length];
  if (drainer !== undefined) return advanceDrainer(world, drainer);
  const run = world.retention[place - sessions.length - drainers.length];
  if (run !== undefined && advanceRetention(world, run)) world.retention.splice(world.retention.indexOf(run), 1);
  const replay = world.replays[place - sessions.length - drainers.length - world.retention.length];
  if (replay !== undefined && advanceReplay(replay)) world.replays.splice(world.replays.indexOf(replay), 1);
}

function late(world: World): void {
  const bulk = world.late[world.random.pick(world.late.length)];
  if (bulk !== undefined && applyLate(world, bulk)) world.late.splice(world.late.indexOf(bulk), 1);
}

function retain(world: World): void {
  if (world.random.chance(0.02)) markRetiring(world);
  events.retain(world);
}

/** Every fault ends and the backlog is worked off. Why the world does not come to rest, or undefined. */
function comeToRest(world: World, slow: boolean): string | undefined {
  const { random } = world;
  world.note?.('faults end');
  world.blocked.clear();
  for (const processor of world.processors) {
    if (processor.paused) events.wake(world, processor);
    if (!processor.alive) events.revive(world, processor);
  }
  if (world.group.owners.includes(-1) || world.group.owners.length < world.partitions.length || random.chance(0.5))
    rebalance(world);
  if (
    random.chance(0.5) ||
    [...world.parking.keys()].some(
      (set) => !world.drainers.some((drainer) => drainer.set === set && drainer.term === world.drainTerm),
    )
  )
    rebalanceDrainers(world);
  for (let turn = 0; turn < maxRestTurns; turn += 1) {
    const choice = random.pick(16);
    if (choice === 0 && (!slow || turn > slowTurns)) late(world);
    else if (choice === 1) events.joinGroup(world);
    else if (choice === 2) events.noticeEpoch(world);
    else if (choice === 3) events.resend(world);
    else if (choice === 4) retain(world);
    else if (choice === 5) endLost(world);
    else if (choice === 6) beginReplay(world, ({ state }) => state === 'targeted');
    else work(world);
    if (turn % 64 === 63 && unfinished(world) === undefined) return undefined;
  }
  return unfinished(world);
}

/** A processor that has joined the newest generation gives up what it had under former ones, after some time. */
function endLost(world: World): void {
  for (const processor of world.processors) {
    const lost = processor.sessions.find(
      ({ term }) => term !== world.group.term && processor.term === world.group.term,
    );
    if (lost !== undefined && world.random.chance(0.3)) endSession(world, lost);
  }
}
