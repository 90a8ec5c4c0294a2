/** For cases that are written down: a world in which nothing happens by chance, and words to say what does. */
import { applyLate } from './bulk.js';
import { advanceDrainer, isIdle, rebalanceDrainers } from './drain.js';
import * as events from './events.js';
import { crash, join } from './group.js';
import { noChance } from './random.js';
import { advanceReplay, beginReplay } from './replays.js';
import { advanceRetention, markRetiring } from './retention.js';
import { advance, notice, type Session } from './session.js';
import type { Switch } from './switches.js';
import { shortIds } from './trace.js';
import { unfinished, violation } from './verdict.js';
import { createWorld, type Partition, type Processor, type Shape, type World } from './world.js';

const maxSteps = 200;
const maxRounds = 400;

/** One partition of messages that all go to the index set `a`, and two processors. */
export class Director {
  readonly world: World;
  readonly trace: string[] = [];

  constructor(without: readonly Switch[] = [], kind: Shape['kind'] = 'id') {
    this.world = createWorld(
      0,
      { kind, partitions: 1, processors: 2 },
      new Set(without),
      (event) => void this.trace.push(shortIds(event)),
      noChance,
    );
    events.firstEpoch(this.world);
  }

  get logs(): Partition {
    return this.world.partitions[1] as Partition;
  }

  processor(number: number): Processor {
    return this.world.processors[number] as Processor;
  }

  accept(count = 1): void {
    events.append(this.world, this.logs, count, Number.MAX_SAFE_INTEGER);
  }

  rotate(): void {
    events.rotate(this.world, 'a');
  }

  /** The group gives everything to one processor, which hears of it. */
  assign(number: number): Session {
    this.take(number);
    join(this.world, this.processor(number));
    return this.session(number);
  }

  /** The group gives everything to one processor, which has not heard of it. */
  take(number: number): void {
    const { group, partitions } = this.world;
    group.term += 1;
    group.generation += 1;
    group.owners = partitions.map(() => number);
  }

  session(number: number): Session {
    return this.processor(number).sessions.findLast(({ partition }) => partition === this.logs) as Session;
  }

  /** Lets one assignment go on until something holds. */
  until(session: Session, holds: (session: Session) => boolean): Session {
    for (let steps = 0; !holds(session); steps += 1) {
      if (steps === maxSteps) throw new Error(`it never holds\n${this.trace.join('\n')}`);
      advance(this.world, session);
    }
    return session;
  }

  ready(session: Session): Session {
    return this.until(session, ({ state, queue }) => state.phase === 'ready' && queue.length === 0);
  }

  /** Its first bulk is in the store, and not answered. */
  applied(session: Session): Session {
    return this.until(
      session,
      ({ delivery }) => delivery?.bulks[0] !== undefined && delivery.bulks[0].outcomes.length > 0,
    );
  }

  committed(session: Session, offset: number): Session {
    return this.until(session, () => (this.logs.committed?.offset ?? 0) >= offset);
  }

  hear(number: number): void {
    notice(this.world, this.processor(number));
  }

  crash(number: number): void {
    crash(this.world, this.processor(number));
  }

  /** Marks the oldest index that is not written any more, and lets retention run once. */
  retire(): void {
    markRetiring(this.world);
    events.retain(this.world);
    const [run] = this.world.retention;
    while (run !== undefined && !advanceRetention(this.world, run));
    this.world.retention = [];
  }

  replay(steps: number): void {
    beginReplay(this.world);
    for (let step = 0; step < steps; step += 1)
      if (advanceReplay(this.world.replays[0] as World['replays'][number])) break;
    this.world.replays.pop();
  }

  /** Lets everybody finish; what is wrong then, or undefined. */
  end(): string | undefined {
    const { world } = this;
    if (world.drainers.length === 0) rebalanceDrainers(world);
    for (let round = 0; round < maxRounds; round += 1) {
      for (const processor of world.processors.filter(({ alive }) => alive)) {
        join(world, processor);
        notice(world, processor);
        for (const session of [...processor.sessions]) advance(world, session);
      }
      for (const drainer of [...world.drainers]) if (!isIdle(world, drainer)) advanceDrainer(world, drainer);
      if (world.late[0] !== undefined && applyLate(world, world.late[0])) world.late.shift();
      events.retain(world);
      world.retention = world.retention.filter((run) => !advanceRetention(world, run));
    }
    return unfinished(world) ?? violation(world);
  }
}
