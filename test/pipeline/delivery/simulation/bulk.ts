/**
 * One bulk on its way to one index, and what its sender does with the answer: tombstones and dead letters for what was
 * refused.
 */
import { applyItem, applyTransaction, sync, writeTombstone, type Item, type ItemOutcome } from './store.js';
import { deadLetterKey, type IndexSet, type Partition, type World } from './world.js';

export interface Bulk {
  readonly sender: string;
  readonly set: IndexSet;
  readonly index: string;
  readonly items: readonly Item[];
  /** Where the batch ends; used only where offsets deduplicate. */
  readonly place: { readonly partition: Partition; readonly generation: number; readonly next: number };
  /** Revision of the tombstone that gives way to a replayed message. */
  readonly replaces: number | undefined;
  /** One for each item applied so far. */
  outcomes: ItemOutcome[];
  stage: 'sent' | 'answered' | 'refused' | 'blocked' | 'done';
  /** Items that are to become dead letters. */
  refused: Item[];
  /** Refused items whose tombstone is not written yet. */
  tombstoneless: Item[];
  /** Some had been stored before (rule 12). */
  existed: boolean;
}

export function createBulk(
  sender: string,
  set: IndexSet,
  index: string,
  items: readonly Item[],
  place: Bulk['place'],
  replaces?: number,
): Bulk {
  return {
    sender,
    set,
    index,
    items,
    place,
    replaces,
    outcomes: [],
    stage: 'sent',
    refused: [],
    tombstoneless: [],
    existed: false,
  };
}

/** Rule 6: gone on purpose. */
export function isRetired(world: World, index: string): boolean {
  const mark = world.marks.get(index);
  return (
    mark?.state === 'closed' || mark?.state === 'deleted' || (mark?.state === 'retiring' && mark.action === 'delete')
  );
}

export function isGone(world: World, name: string): boolean {
  const index = world.indices.get(name);
  return (index === undefined || index.closed) && isRetired(world, name);
}

/** Applies the next documents at the store; true when all are. */
export function applyBulk(world: World, bulk: Bulk, durable: boolean): boolean {
  if (world.kind === 'marker' && bulk.place.generation > 0) {
    if (bulk.outcomes.length > 0) return true;
    bulk.outcomes = [...applyTransaction(world, bulk.index, bulk.items, bulk.place)];
    bulk.items.forEach(({ key }, at) =>
      world.note?.(`${bulk.sender}: ${key} -> ${bulk.index}: ${bulk.outcomes[at] as string}`),
    );
    return true;
  }
  const count = world.random.chance(0.3) ? 1 : bulk.items.length;
  for (let done = 0; done < count && bulk.outcomes.length < bulk.items.length; done += 1) {
    const item = bulk.items[bulk.outcomes.length] as Item;
    const outcome = applyItem(world, bulk.index, item, durable, bulk.replaces);
    world.note?.(`${bulk.sender}: ${item.key} -> ${bulk.index}: ${outcome}`);
    bulk.outcomes.push(outcome);
  }
  return bulk.outcomes.length === bulk.items.length;
}

/** The sender's next step with its bulk. */
export function advanceBulk(world: World, bulk: Bulk, resend: (bulk: Bulk) => void): void {
  switch (bulk.stage) {
    case 'sent':
      if (world.kind === 'id' && world.random.chance(0.04)) return giveUp(world, bulk, resend);
      if (bulk.outcomes.length === bulk.items.length) answer(world, bulk);
      else applyBulk(world, bulk, false);
      return;
    case 'answered':
      return lookAtTombstones(world, bulk);
    case 'refused':
      return keepRefused(world, bulk);
    case 'blocked':
    case 'done':
      return;
  }
}

/** The sender waits no longer and sends the same once more; the first may still be applied. */
function giveUp(world: World, bulk: Bulk, resend: (bulk: Bulk) => void): void {
  world.note?.(`${bulk.sender}: bulk to ${bulk.index} timed out`);
  resend(createBulk(bulk.sender, bulk.set, bulk.index, bulk.items, bulk.place));
  world.late.push(bulk);
}

/** An answer means that what this bulk stored is durable. */
function answer(world: World, bulk: Bulk): void {
  const docs = world.indices.get(bulk.index)?.docs;
  bulk.items.forEach((item, at) => {
    const outcome = bulk.outcomes[at];
    const doc = docs?.get(item.key);
    if (outcome === 'stored' && doc !== undefined) doc.durable = true;
    if (outcome === 'exists') bulk.existed = true;
    if (outcome === 'refused') bulk.refused.push(item);
  });
  const open = bulk.outcomes.some(
    (outcome) => outcome === 'blocked' || (outcome === 'missing' && !isRetired(world, bulk.index)),
  );
  if (open) {
    bulk.stage = 'blocked';
    return;
  }
  bulk.stage = 'answered';
}

/**
 * Rule 10: what met its own id may have met the tombstone of an earlier refusal. Rule 12: it is synced before it is
 * looked at, for a store that died since the answer may have lost it.
 */
function lookAtTombstones(world: World, bulk: Bulk): void {
  bulk.tombstoneless = world.without.has('rule-10') || world.kind === 'marker' ? [] : bulk.refused;
  bulk.refused = [...bulk.refused];
  if (bulk.existed && world.kind === 'id') {
    const existed = bulk.items.filter((_, at) => bulk.outcomes[at] === 'exists');
    if (!keepExisting(world, bulk, existed)) return;
    const docs = world.indices.get(bulk.index)?.docs;
    if (!world.without.has('rule-10-look'))
      bulk.refused.push(...existed.filter(({ key }) => docs?.get(key)?.tombstone === true));
  }
  bulk.stage = bulk.refused.length === 0 ? 'done' : 'refused';
}

/** False when one of them is gone: the bulk is sent again. */
function keepExisting(world: World, bulk: Bulk, items: readonly Item[]): boolean {
  const index = world.indices.get(bulk.index);
  if (index === undefined || world.without.has('rule-12')) return true;
  if (!world.without.has('rule-12-look')) sync(world, bulk.index);
  if (world.without.has('rule-12-look') || items.every(({ key }) => index.docs.has(key))) return true;
  world.note?.(`${bulk.sender}: ${bulk.index} has lost what was there already`);
  bulk.stage = 'sent';
  bulk.outcomes = [];
  bulk.refused = [];
  bulk.existed = false;
  return false;
}

/** A tombstone for each, one after the other; then the dead letters, in one append. */
function keepRefused(world: World, bulk: Bulk): void {
  const [item, ...rest] = bulk.tombstoneless;
  if (item !== undefined) {
    const stands = writeTombstone(world, bulk.index, item.key);
    world.note?.(`${bulk.sender}: tombstone of ${item.key} in ${bulk.index}: ${String(stands)}`);
    if (stands === undefined) {
      // When an index is gone on purpose, a redelivery to it counts everything as done.
      if (isGone(world, bulk.index)) bulk.stage = 'done';
      return;
    }
    bulk.tombstoneless = rest;
    if (stands === false && !world.without.has('rule-10-stored')) {
      if (!keepExisting(world, bulk, [item])) return;
      bulk.refused = bulk.refused.filter((each) => each !== item);
      bulk.existed = true;
    }
    return;
  }
  const dead = world.partitions[0] as Partition;
  const entries = bulk.refused.map(({ key }) => ({
    key: deadLetterKey(world, key, bulk.set, world.reason ?? 'unknown'),
  }));
  if (entries.length > 0) {
    world.note?.(`${bulk.sender}: dead letters ${entries.map(({ key }) => key).join(' ')}`);
    dead.log.push(...entries);
    if (world.kind === 'id' && world.random.chance(0.1)) dead.resends.push(entries);
  }
  bulk.stage = 'done';
}

/** A bulk whose sender is gone, on its way for a while yet. True when it has arrived. */
export function applyLate(world: World, bulk: Bulk): boolean {
  const done = applyBulk(world, bulk, world.random.chance(0.5));
  if (done && world.random.chance(0.5)) sync(world, bulk.index);
  return done;
}
