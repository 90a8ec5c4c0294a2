/** Drains a parking topic to the concrete indices that its records name (rule 8), in a group of its own. */
import { advanceBulk, createBulk, type Bulk } from './bulk.js';
import { deadLetterPlace, sync, type Item } from './store.js';
import { latestEpoch, type IndexSet, type Processor, type World } from './world.js';

export interface ParkedRecord extends Item {
  readonly set: IndexSet;
  readonly index: string;
  readonly generation: number;
}

export interface Drainer {
  readonly name: string;
  readonly processor: Processor;
  readonly set: IndexSet;
  readonly term: number;
  stage: 'fetch' | 'fence' | 'work' | 'sync' | 'commit';
  next: number;
  to: number;
  bulks: Bulk[];
}

/** The group of the drainers has a new generation. */
export function rebalanceDrainers(world: World): void {
  const members = world.processors.filter(({ alive, paused }) => alive && !paused);
  world.drainTerm += 1;
  for (const set of world.parking.keys()) {
    const processor = members[world.random.pick(members.length)];
    if (processor === undefined) continue;
    world.drainers.push({
      name: `p${processor.number} drain ${set} t${world.drainTerm}`,
      processor,
      set,
      term: world.drainTerm,
      stage: 'fetch',
      next: -1,
      to: 0,
      bulks: [],
    });
  }
}

export function endDrainer(world: World, drainer: Drainer): void {
  for (const bulk of drainer.bulks) if (bulk.stage === 'sent' && world.random.chance(0.7)) world.late.push(bulk);
  world.drainers.splice(world.drainers.indexOf(drainer), 1);
}

/** Whether there is nothing to do. */
export function isIdle(world: World, drainer: Drainer): boolean {
  return (
    drainer.term === world.drainTerm &&
    drainer.stage === 'fetch' &&
    (world.drained.get(drainer.set) ?? 0) >= (world.parking.get(drainer.set)?.length ?? 0)
  );
}

export function advanceDrainer(world: World, drainer: Drainer): void {
  const log = world.parking.get(drainer.set) ?? [];
  switch (drainer.stage) {
    case 'fetch': {
      if (drainer.next < 0) drainer.next = world.drained.get(drainer.set) ?? 0;
      drainer.to = Math.min(log.length, drainer.next + 1 + world.random.pick(3));
      if (drainer.to > drainer.next) drainer.stage = 'fence';
      else if (drainer.term !== world.drainTerm) endDrainer(world, drainer);
      return;
    }
    case 'fence':
      if (drainer.term !== world.drainTerm && !world.without.has('rule-3')) return endDrainer(world, drainer);
      drainer.bulks = bulksOf(world, drainer, log.slice(drainer.next, drainer.to));
      drainer.stage = 'work';
      return;
    case 'work':
      return work(world, drainer);
    case 'sync':
      for (const bulk of drainer.bulks) if (bulk.existed && !world.without.has('rule-12')) sync(world, bulk.index);
      drainer.stage = 'commit';
      return;
    case 'commit':
      if (drainer.term !== world.drainTerm) return endDrainer(world, drainer);
      world.drained.set(drainer.set, drainer.to);
      world.note?.(`${drainer.name}: committed ${drainer.to}`);
      drainer.next = drainer.to;
      drainer.bulks = [];
      drainer.stage = 'fetch';
  }
}

/**
 * By origin and index. Where messages stand in the topic again another group begins: a marker passes what comes later.
 */
function bulksOf(world: World, drainer: Drainer, records: readonly ParkedRecord[]): Bulk[] {
  const groups: ParkedRecord[][] = [];
  const open = new Map<string, ParkedRecord[]>();
  for (const record of records) {
    const key = `${record.partition.name}/${record.generation}/${record.index}`;
    let group = open.get(key);
    if (group === undefined || record.offset <= (group.at(-1) as ParkedRecord).offset) {
      group = [];
      open.set(key, group);
      groups.push(group);
    }
    group.push(record);
  }
  return groups.map((items) => {
    const { partition, generation, offset, index: own } = items.at(-1) as ParkedRecord;
    const index = world.without.has('rule-8')
      ? (world.epochs[latestEpoch(world)]?.indices[drainer.set] as string)
      : own;
    return createBulk(drainer.name, drainer.set, index, items, { partition, generation, next: offset + 1 });
  });
}

/** One group after the other, in the order of their first messages. */
function work(world: World, drainer: Drainer): void {
  const bulk = drainer.bulks.find(({ stage }) => stage !== 'done');
  if (
    bulk?.set === 'dead' &&
    bulk.stage === 'sent' &&
    bulk.outcomes.length === 0 &&
    leaveKnownOut(world, drainer, bulk)
  )
    return;
  if (bulk !== undefined && bulk.stage !== 'blocked')
    return advanceBulk(world, bulk, (again) => drainer.bulks.splice(drainer.bulks.indexOf(bulk), 1, again));
  if (bulk === undefined) drainer.stage = 'sync';
  else
    drainer.bulks.splice(
      drainer.bulks.indexOf(bulk),
      1,
      createBulk(bulk.sender, bulk.set, bulk.index, bulk.items, bulk.place),
    );
}

/** Dead letters that are there already. True when some were left out. */
function leaveKnownOut(world: World, drainer: Drainer, bulk: Bulk): boolean {
  const seen = new Set<string>();
  const items = bulk.items.filter(({ key }) => {
    const place = deadLetterPlace(world, key, bulk.index);
    if (place !== undefined && !world.without.has('rule-12')) sync(world, place);
    return place === undefined && (world.kind === 'id' || seen.size < seen.add(key).size);
  });
  if (items.length === bulk.items.length) return false;
  drainer.bulks.splice(
    drainer.bulks.indexOf(bulk),
    1,
    ...(items.length === 0 ? [] : [createBulk(bulk.sender, bulk.set, bulk.index, items, bulk.place)]),
  );
  return true;
}
