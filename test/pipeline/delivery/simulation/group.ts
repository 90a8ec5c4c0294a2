/** The consumer group: its coordinator knows who owns what; each processor knows what it was told last. */
import { createSession, endSession } from './session.js';
import { latestEpoch, type Processor, type World } from './world.js';

/** A new generation: partitions go round among the processors that answer. */
export function rebalance(world: World): void {
  const { group } = world;
  const members = world.processors.filter(({ alive, paused }) => alive && !paused);
  group.term += 1;
  group.generation += 1;
  const turn = members.length === 0 ? 0 : world.random.pick(members.length);
  group.owners = world.partitions.map((_, place) => members[(place + turn) % members.length]?.number ?? -1);
  world.note?.(
    `group: generation ${group.generation}, owners ${world.partitions.map(({ name }, place) => `${name}=p${group.owners[place]}`).join(' ')}`,
  );
}

/** The coordinator has forgotten the group: generations begin anew. */
export function resetGroup(world: World): void {
  world.group.generation = 0;
  world.note?.('group: forgotten');
  rebalance(world);
}

/**
 * A processor hears of the newest generation and begins with its partitions; what it still does for the former ones may
 * go on for a while.
 */
export function join(world: World, processor: Processor): void {
  if (processor.term === world.group.term) return;
  processor.term = world.group.term;
  for (const session of [...processor.sessions])
    if (!isBusy(session.state.phase) || world.random.chance(0.5)) endSession(world, session);
  world.note?.(`p${processor.number}: joins generation ${world.group.generation}`);
  world.partitions.forEach((partition, place) => {
    if (world.group.owners[place] === processor.number)
      processor.sessions.push(createSession(world, processor, partition));
  });
}

const isBusy = (phase: string): boolean => phase === 'delivering' || phase === 'parking';

/** The process dies; what it has sent may still arrive. */
export function crash(world: World, processor: Processor): void {
  world.note?.(`p${processor.number}: crashes`);
  for (const session of [...processor.sessions]) endSession(world, session);
  processor.alive = false;
  processor.paused = false;
}

export function start(world: World, processor: Processor): void {
  world.note?.(`p${processor.number}: starts`);
  processor.alive = true;
  processor.known = latestEpoch(world);
}
