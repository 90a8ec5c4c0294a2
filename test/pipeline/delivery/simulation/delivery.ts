/**
 * Carries out `deliver` and `park`: fence, route by epoch, park what is to be parked, send the bulks and work off their
 * answers.
 */
import type { DeliveryCommand } from '../../../../pipeline/delivery/partition-state.js';
import { advanceBulk, createBulk, type Bulk } from './bulk.js';
import type { ParkedRecord } from './drain.js';
import { endSession, feed, ownsPartition, type Session } from './session.js';
import { deadLetterPlace, setOfIndex, sync, type Item } from './store.js';
import { latestEpoch, routing, type Entry, type IndexSet, type World } from './world.js';

type Deliver = Extract<DeliveryCommand, { type: 'deliver' | 'park' }>;

export interface Delivery {
  readonly command: Deliver;
  stage: 'fence' | 'send' | 'work';
  bulks: Bulk[];
  /** Not yet appended to their parking topics. */
  parks: ParkedRecord[];
  /** Indices with dead letters that were left out because they are there. */
  readonly known: Set<string>;
}

export const createDelivery = (command: Deliver): Delivery => ({
  command,
  stage: command.type === 'deliver' ? 'fence' : 'send',
  bulks: [],
  parks: [],
  known: new Set(),
});

/** The sender is gone. */
export function abandonDelivery(world: World, { bulks }: Delivery): void {
  for (const bulk of bulks) if (bulk.stage === 'sent' && world.random.chance(0.7)) world.late.push(bulk);
}

export function advanceDelivery(world: World, session: Session, delivery: Delivery): void {
  if (delivery.stage === 'fence') return fence(world, session, delivery);
  if (delivery.stage === 'send') return send(world, session, delivery);
  if (delivery.parks.length > 0) return append(world, session, delivery);
  const open = delivery.bulks.filter(({ stage }) => stage !== 'done' && stage !== 'blocked');
  const bulk = open[world.random.pick(open.length)];
  if (bulk === undefined) return finish(world, session, delivery);
  const before = bulk.outcomes.length;
  advanceBulk(world, bulk, (again) => delivery.bulks.splice(delivery.bulks.indexOf(bulk), 1, again));
  if (ownsPartition(world, session))
    for (let at = before; at < bulk.outcomes.length; at += 1)
      if (bulk.outcomes[at] === 'stored') checkOrder(world, session, bulk, bulk.items[at] as Item);
}

function fence(world: World, session: Session, delivery: Delivery): void {
  if (world.without.has('rule-3') || ownsPartition(world, session)) {
    delivery.stage = 'send';
    return;
  }
  session.delivery = undefined;
  feed(world, session, { type: 'failed' });
  if (world.random.chance(0.5)) endSession(world, session);
}

function send(world: World, session: Session, delivery: Delivery): void {
  const { command } = delivery;
  const place = {
    partition: session.partition,
    generation: session.topicGeneration,
    next: session.state.batch?.next ?? 0,
  };
  const items = new Map<string, Item[]>();
  session.newest = latestEpoch(world);
  for (const span of command.spans) {
    const epoch = world.epochs[world.without.has('rule-1') ? latestEpoch(world) : span.epoch];
    if (epoch === undefined) throw new Error(`epoch ${span.epoch} is missing`);
    for (let offset = span.from; offset < span.to; offset += 1) {
      if (!world.without.has('rule-5') && session.check?.resent.has(offset - session.next) === true) continue;
      const { key } = session.log[offset] as Entry;
      if (
        session.partition.topic === 'dead' &&
        isKept(world, session, delivery, key, offset, epoch.indices['dead'] as string)
      )
        continue;
      const message = world.messages.get(key);
      const sets = session.partition.topic === 'dead' ? ['dead' as const] : routing(epoch, message?.kind ?? 0);
      for (const set of sets) {
        const index = epoch.indices[set] as string;
        const item: Item = { key, message, partition: session.partition, offset };
        if (isParked(command, set)) delivery.parks.push({ ...item, set, index, generation: session.topicGeneration });
        else if (command.type === 'deliver') items.set(index, [...(items.get(index) ?? []), item]);
      }
    }
  }
  for (const [index, of] of items) delivery.bulks.push(createBulk(session.name, setOfIndex(index), index, of, place));
  delivery.stage = 'work';
}

/**
 * A dead letter may stand in its topic twice: a batch with a refused message was delivered again. What came before it
 * is stored, or in this batch.
 */
function isKept(
  world: World,
  session: Session,
  delivery: Delivery,
  key: string,
  offset: number,
  index: string,
): boolean {
  for (let before = session.next; before < offset; before += 1)
    if (!world.without.has('letters-once') && (session.log[before] as Entry).key === key) return true;
  const place = deadLetterPlace(world, key, index);
  if (place !== undefined) {
    delivery.known.add(place);
    if (!world.without.has('rule-12')) sync(world, place);
  }
  return place !== undefined;
}

const isParked = (command: Deliver, set: IndexSet): boolean =>
  (command.type === 'deliver' ? command.park : command.indexSets).includes(set);

/** One append for each set, in offset order. */
function append(world: World, session: Session, delivery: Delivery): void {
  const set = (delivery.parks[0] as ParkedRecord).set;
  const log = world.parking.get(set) ?? [];
  const records = delivery.parks.filter((parked) => parked.set === set);
  log.push(...records);
  world.note?.(`${session.name}: parks ${records.map(({ key, index }) => `${key} for ${index}`).join(', ')}`);
  session.parkedEnd.set(set, log.length);
  delivery.parks = delivery.parks.filter((parked) => parked.set !== set);
}

function finish(world: World, session: Session, delivery: Delivery): void {
  const blocked = delivery.bulks.filter(({ stage }) => stage === 'blocked');
  if (blocked.length > 0 && world.random.chance(0.5)) {
    delivery.bulks = delivery.bulks.map((bulk) =>
      bulk.stage === 'blocked' ? createBulk(bulk.sender, bulk.set, bulk.index, bulk.items, bulk.place) : bulk,
    );
    return;
  }
  const alreadyStoredIn = [
    ...delivery.known,
    ...delivery.bulks.filter(({ existed }) => existed).map(({ index }) => index),
  ];
  const sequences = session.check?.after ?? new Map<string, number>();
  session.delivery = undefined;
  if (delivery.command.type === 'park') feed(world, session, { type: 'parked' });
  else if (blocked.length > 0)
    feed(world, session, {
      type: 'blocked',
      indexSets: [...new Set(blocked.map(({ set }) => set))],
      alreadyStoredIn,
      sequences,
    });
  else feed(world, session, { type: 'stored', alreadyStoredIn, sequences });
}

/** Order within a connection: nothing newer is stored while something older of the same partition and set is parked. */
function checkOrder(world: World, session: Session, bulk: Bulk, item: Item): void {
  const log = world.parking.get(bulk.set);
  if (log === undefined) return;
  for (let at = world.drained.get(bulk.set) ?? 0; at < log.length; at += 1) {
    const parked = log[at] as ParkedRecord;
    if (
      parked.partition !== item.partition ||
      parked.offset >= session.next ||
      parked.generation !== session.topicGeneration
    )
      continue;
    if (world.indices.get(parked.index)?.docs.has(parked.key) === false)
      world.overtaken.push(`${item.key} was stored in ${bulk.index} while ${parked.key} was parked`);
  }
}
