/**
 * What happens to a world from outside: messages, rotations, rule changes, faults. Each returns false when it cannot
 * happen now.
 */
import { createRun, idPrefix, mintId } from '../../../../core/message-ids.js';
import type { Epoch } from '../../../../pipeline/delivery/records.js';
import { endDrainer, rebalanceDrainers } from './drain.js';
import { crash, join, rebalance, resetGroup, start } from './group.js';
import { createRetentionRun } from './retention.js';
import { notice } from './session.js';
import { crashStore, createIndex } from './store.js';
import { createPartition, latestEpoch, type IndexSet, type Partition, type Processor, type World } from './world.js';

/** Bounds that let every world come to rest. */
const maxMessages = 16;
/** Left for a processor that wakes up. */
const spareMessages = 8;
const maxEpochs = 7;
const maxTerms = 9;

const pickOf = <Item>(world: World, items: readonly Item[]): Item | undefined => items[world.random.pick(items.length)];
const logsOf = (world: World): Partition[] => world.partitions.filter(({ topic }) => topic === 'logs');
const listening = (world: World): Processor[] =>
  running(world).filter((processor) => {
    processor.dazed -= 1;
    return processor.dazed < 0;
  });
export const running = (world: World): Processor[] => world.processors.filter(({ alive, paused }) => alive && !paused);

/** Accepted messages; at times the acknowledgement is cut, and the same come again later. */
export function append(
  world: World,
  partition = pickOf(world, logsOf(world)),
  count = 1 + world.random.pick(3),
  most = maxMessages,
): boolean {
  if (partition === undefined || world.messages.size >= most) return false;
  const entries = Array.from({ length: count }, () => {
    const key = mintId(partition.prefix, partition.sequence++);
    const offset = partition.log.length;
    partition.log.push({ key });
    world.messages.set(key, {
      key,
      partition,
      offset,
      kind: world.random.pick(4),
      poison: world.random.chance(0.15),
      epoch: undefined,
      void: false,
    });
    return { key };
  });
  world.note?.(
    `${partition.name}: ${entries.map(({ key }) => key).join(' ')} accepted at ${partition.log.length - count}`,
  );
  if (world.random.chance(0.3)) partition.resends.push(entries.slice(world.random.pick(entries.length)));
  return true;
}

/** A receiver repeats an append whose acknowledgement was cut; a resend keeps its partition. */
export function resend(
  world: World,
  partition = pickOf(
    world,
    world.partitions.filter(({ resends }) => resends.length > 0),
  ),
): boolean {
  const entries = partition?.resends.shift();
  if (partition === undefined || entries === undefined) return false;
  world.note?.(`${partition.name}: ${entries.map(({ key }) => key).join(' ')} resent at ${partition.log.length}`);
  partition.log.push(...entries);
  return true;
}

/** A receiver starts anew: another run. */
export function restartReceiver(world: World): boolean {
  world.revision += 1;
  const run = createRun(10 + world.revision, Buffer.alloc(4));
  for (const partition of logsOf(world)) {
    partition.prefix = idPrefix(run, partition.number);
    partition.sequence = 0;
  }
  return true;
}

function appendEpoch(world: World, epoch: Omit<Epoch, 'number' | 'createdAt'>): void {
  world.epochs.push({ ...epoch, number: world.epochs.length, createdAt: 0 });
  world.note?.(
    `epoch ${latestEpoch(world)}: ${epoch.cause}, rules ${epoch.ruleSetVersion}, ${Object.values(epoch.indices).join(' ')}`,
  );
}

/** Rule 6: no name twice. */
export function nextIndex(world: World, set: IndexSet): string {
  const name = `${set}_${world.nextIndex++}`;
  world.marks.set(name, { indexSet: set, number: world.nextIndex, state: 'open', createdAt: 0 });
  createIndex(world, name, set);
  return name;
}

export function firstEpoch(world: World): void {
  appendEpoch(world, {
    ruleSetVersion: '0',
    indices: { a: nextIndex(world, 'a'), b: nextIndex(world, 'b'), dead: nextIndex(world, 'dead') },
    cause: 'start',
  });
}

export function rotate(world: World, set = pickOf<IndexSet>(world, ['a', 'a', 'b', 'dead'])): boolean {
  const latest = world.epochs.at(-1);
  if (set === undefined || latest === undefined || world.epochs.length >= maxEpochs) return false;
  appendEpoch(world, { ...latest, indices: { ...latest.indices, [set]: nextIndex(world, set) }, cause: 'rotation' });
  return true;
}

export function changeRules(world: World): boolean {
  const latest = world.epochs.at(-1);
  if (latest === undefined || world.epochs.length >= maxEpochs) return false;
  appendEpoch(world, { ...latest, ruleSetVersion: String(Number(latest.ruleSetVersion) + 1), cause: 'rules' });
  return true;
}

export function noticeEpoch(world: World, processor = pickOf(world, listening(world))): boolean {
  if (processor !== undefined) notice(world, processor);
  return processor !== undefined;
}

export function joinGroup(
  world: World,
  processor = pickOf(
    world,
    listening(world).filter(({ term }) => term !== world.group.term),
  ),
): boolean {
  if (processor !== undefined) join(world, processor);
  return processor !== undefined;
}

export function regroup(world: World): boolean {
  if (world.group.term >= maxTerms || world.kind === 'marker') return false;
  rebalance(world);
  if (world.random.chance(0.5)) rebalanceDrainers(world);
  return true;
}

export function forgetGroup(world: World): boolean {
  if (world.group.term >= maxTerms || world.kind === 'marker') return false;
  resetGroup(world);
  return true;
}

export function kill(world: World, processor = pickOf(world, running(world))): boolean {
  if (processor === undefined || world.group.term >= maxTerms) return false;
  crash(world, processor);
  for (const drainer of world.drainers.filter((each) => each.processor === processor)) endDrainer(world, drainer);
  if (world.kind === 'marker') {
    for (const bulk of world.late.splice(0))
      if (world.random.chance(0.5)) bulk.outcomes = [];
      else world.late.push(bulk);
  }
  return true;
}

/** Stopped by a signal: the group takes its partitions away, it knows nothing of that. */
export function pause(world: World, processor = pickOf(world, running(world))): boolean {
  if (processor === undefined || running(world).length < 2 || world.group.term >= maxTerms) return false;
  processor.paused = true;
  world.note?.(`p${processor.number}: pauses`);
  return true;
}

export function wake(
  world: World,
  processor = pickOf(
    world,
    world.processors.filter(({ paused }) => paused),
  ),
): boolean {
  if (processor === undefined) return false;
  processor.paused = false;
  processor.dazed = world.random.pick(6);
  world.note?.(`p${processor.number}: wakes`);
  // It reads on before it hears that its partitions are somebody else's.
  const session = pickOf(world, processor.sessions);
  if (session?.partition.topic === 'logs' && world.random.chance(0.5))
    append(world, session.partition, 1 + world.random.pick(2), maxMessages + spareMessages);
  return true;
}

/** A processor that died starts again. */
export function revive(
  world: World,
  processor = pickOf(
    world,
    world.processors.filter(({ alive }) => !alive),
  ),
): boolean {
  if (processor === undefined) return false;
  start(world, processor);
  rebalance(world);
  rebalanceDrainers(world);
  return true;
}

export function addPartition(world: World): boolean {
  if (logsOf(world).length >= 3) return false;
  const partition = createPartition('logs', logsOf(world).length);
  partition.prefix = idPrefix(createRun(3, Buffer.alloc(4)), partition.number);
  world.partitions.push(partition);
  world.note?.(`${partition.name}: added`);
  if (world.kind === 'id') rebalance(world);
  return true;
}

export function block(world: World, set = pickOf<IndexSet>(world, ['a', 'a', 'b', 'b', 'dead'])): boolean {
  if (set === undefined) return false;
  if (world.blocked.delete(set)) world.note?.(`${set}: takes writes again`);
  else {
    world.blocked.add(set);
    world.note?.(`${set}: takes no writes`);
  }
  return true;
}

export function changeReason(world: World): boolean {
  world.reason = world.reason === undefined ? `code-${world.random.pick(2)}` : undefined;
  world.note?.(`store: ${world.reason ?? 'takes everything'}`);
  return true;
}

export function retain(world: World): boolean {
  if (world.retention.length >= 2) return false;
  world.retention.push(createRetentionRun(`retention ${world.revision}`));
  return true;
}

/** The store dies: what was not synced is lost, what it was writing is not answered. */
export function killStore(world: World): boolean {
  if (world.kind === 'marker') return false;
  world.note?.('store: crashes');
  crashStore(world);
  const sent = [
    ...world.late,
    ...world.processors.flatMap(({ sessions }) => sessions.flatMap(({ delivery }) => delivery?.bulks ?? [])),
    ...world.drainers.flatMap(({ bulks }) => bulks),
  ];
  for (const bulk of sent) if (bulk.stage === 'sent') bulk.outcomes = [];
  return true;
}

/** The topic is deleted and made again while the program is stopped: what it held is gone. */
export function remake(world: World): boolean {
  const partition = pickOf(world, logsOf(world));
  if (partition === undefined || world.kind === 'id' || running(world).length > 0 || partition.generation > 2)
    return false;
  for (const message of world.messages.values())
    if (message.partition === partition && message.epoch === undefined) message.void = true;
  partition.generation += 1;
  if (partition.record !== undefined) partition.former.push(partition.record.record);
  partition.log = [];
  partition.record = undefined;
  partition.committed = undefined;
  partition.resends = [];
  world.note?.(`${partition.name}: made again, generation ${partition.generation}`);
  return true;
}
