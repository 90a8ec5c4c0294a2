/**
 * The index store: recognises a document by its id, or by its offset against a marker; a crash loses what was not
 * synced.
 */
import type { DeadLetterState } from '../../../../pipeline/dead-letters/replay-machine.js';
import type { IndexSet, Message, Partition, World } from './world.js';

export interface Doc {
  readonly tombstone: boolean;
  /** More than one only where offsets deduplicate. */
  copies: number;
  durable: boolean;
  revision: number;
  /** Only for dead letters. */
  deadLetter: DeadLetterState | undefined;
  /** The tombstone in whose place it was written: what a crash before the sync leaves. */
  readonly replaced: Doc | undefined;
}

export interface Index {
  readonly name: string;
  readonly set: IndexSet;
  closed: boolean;
  readonly docs: Map<string, Doc>;
  /** Next offset by topic generation and partition. */
  readonly markers: Map<string, number>;
}

export interface Item {
  readonly key: string;
  /** Undefined: a dead letter. */
  readonly message: Message | undefined;
  readonly partition: Partition;
  readonly offset: number;
}

export type ItemOutcome = 'stored' | 'exists' | 'refused' | 'blocked' | 'missing';

export function createIndex(world: World, name: string, set: IndexSet): Index {
  const index: Index = { name, set, closed: false, docs: new Map(), markers: new Map() };
  world.indices.set(name, index);
  return index;
}

export const setOfIndex = (name: string): IndexSet => name.slice(0, name.indexOf('_')) as IndexSet;

/** The index if it takes writes now; with rule 6 left out a missing one comes into being. */
function writable(world: World, name: string): Index | ItemOutcome {
  const index = world.indices.get(name);
  if (index === undefined) return world.without.has('rule-6') ? createIndex(world, name, setOfIndex(name)) : 'missing';
  if (index.closed) return 'missing';
  return world.blocked.has(index.set) ? 'blocked' : index;
}

const refuses = (world: World, item: Item): boolean =>
  item.message?.poison === true && (world.reason !== undefined || world.kind === 'marker');

/**
 * A `create` of one document with its own id; with `replaces` in the place of the tombstone of that revision. The
 * mapping is checked before the id.
 */
export function applyItem(world: World, name: string, item: Item, durable: boolean, replaces?: number): ItemOutcome {
  const index = writable(world, name);
  if (typeof index === 'string') return index;
  if (refuses(world, item)) return 'refused';
  const found = index.docs.get(item.key);
  const gives = replaces !== undefined && found?.tombstone === true && found.revision === replaces;
  if (!gives && (found !== undefined || replaces !== undefined)) return 'exists';
  if (gives) index.docs.delete(item.key);
  put(world, index, item, durable, gives ? found : undefined);
  return 'stored';
}

function put(world: World, index: Index, item: Item, durable: boolean, replaced?: Doc): void {
  const found = index.docs.get(item.key);
  if (found !== undefined) {
    found.copies += 1;
    return;
  }
  world.revision += 1;
  const deadLetter: DeadLetterState | undefined = index.set === 'dead' ? { state: 'open', replays: 0 } : undefined;
  index.docs.set(item.key, { tombstone: false, copies: 1, durable, revision: world.revision, deadLetter, replaced });
}

export const markerKey = (world: World, partition: Partition, generation: number): string =>
  world.without.has('rule-11-generation') ? partition.name : `${partition.name}/${generation}`;

/** One transaction with the marker of the batch; documents below the marker are there already. */
export function applyTransaction(
  world: World,
  name: string,
  items: readonly Item[],
  place: { readonly partition: Partition; readonly generation: number; readonly next: number },
): readonly ItemOutcome[] {
  const index = writable(world, name);
  if (typeof index === 'string') return items.map(() => index);
  const key = markerKey(world, place.partition, place.generation);
  const marker = index.markers.get(key) ?? 0;
  const outcomes = items.map((item): ItemOutcome => {
    if (refuses(world, item)) return 'refused';
    if (item.offset < marker) return 'exists';
    put(world, index, item, true);
    return 'stored';
  });
  if (!world.without.has('rule-11')) index.markers.set(key, Math.max(marker, place.next));
  return outcomes;
}

/**
 * Whether a tombstone of this id stands in the index afterwards; undefined while the index takes no writes. A tombstone
 * of the revision `renews` is written anew.
 */
export function writeTombstone(world: World, name: string, key: string, renews?: number): boolean | undefined {
  const index = writable(world, name);
  if (typeof index === 'string') return undefined;
  const found = index.docs.get(key);
  if (found !== undefined && found.revision !== renews) return found.tombstone;
  world.revision += 1;
  index.docs.set(key, {
    tombstone: true,
    copies: 1,
    durable: true,
    revision: world.revision,
    deadLetter: undefined,
    replaced: undefined,
  });
  return true;
}

export function sync(world: World, name: string): void {
  for (const doc of world.indices.get(name)?.docs.values() ?? []) doc.durable = true;
}

/** What was not synced is lost. */
export function crashStore(world: World): void {
  world.storeCrashes += 1;
  for (const { docs } of world.indices.values()) {
    for (const [key, { durable, replaced }] of docs) {
      if (durable) continue;
      if (replaced === undefined) docs.delete(key);
      else docs.set(key, replaced);
    }
  }
}

export function removeIndex(world: World, name: string): void {
  const index = world.indices.get(name);
  if (index === undefined) return;
  world.indices.delete(name);
  world.removed.push(index);
}

/** Where a dead letter is already, apart from the index it is bound for where that knows it by its id. */
export function deadLetterPlace(world: World, key: string, index: string): string | undefined {
  if (world.without.has('letters-once')) return undefined;
  for (const { set, name, docs, closed } of world.indices.values()) {
    if (set === 'dead' && !closed && (name !== index || world.kind === 'marker') && docs.has(key)) return name;
  }
  return undefined;
}
