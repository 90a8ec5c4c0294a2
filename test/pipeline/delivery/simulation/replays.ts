/**
 * An operator's replay of one dead letter (rule 13), as `pipeline/dead-letters/replayer.ts` carries it out: a step at a
 * time, others in between.
 */
import {
  idleReplay,
  stepReplay,
  type DeadLetterState,
  type ReplayCommand,
  type ReplayEvent,
  type SetOutcome,
  type Tombstones,
} from '../../../../pipeline/dead-letters/replay-machine.js';
import { applyBulk, createBulk, isGone, isRetired } from './bulk.js';
import { sync, writeTombstone, type Doc, type Index } from './store.js';
import { latestEpoch, deadLetterOf, type IndexSet, type Message, type World } from './world.js';

export interface ReplayRun {
  readonly name: string;
  readonly steps: Generator<undefined, undefined>;
}

/** Operators at work side by side. */
const maxReplays = 3;

interface Place {
  readonly name: string;
  readonly index: Index;
  readonly key: string;
  readonly message: Message;
  readonly set: IndexSet;
}

type Want = (deadLetter: DeadLetterState) => boolean;

/** Begins the replay of a dead letter that is wanted; false when there is none. */
export function beginReplay(world: World, want: Want = () => true): boolean {
  if (world.replays.length >= maxReplays) return false;
  const places: Place[] = [];
  for (const index of world.indices.values()) {
    if (index.set !== 'dead' || index.closed) continue;
    for (const [key, { deadLetter }] of index.docs) {
      const { message: id, set } = deadLetterOf(key);
      const message = world.messages.get(id);
      if (deadLetter !== undefined && message !== undefined && want(deadLetter))
        places.push({ name: `replay ${world.revision} of ${key}`, index, key, message, set });
    }
  }
  const place = places[world.random.pick(places.length)];
  if (place === undefined) return false;
  world.replays.push({ name: place.name, steps: replay(world, place) });
  return true;
}

/** True when the run has ended. */
export const advanceReplay = (run: ReplayRun): boolean => run.steps.next().done === true;

const deadLetterDoc = (world: World, { index, key }: Place): Doc | undefined =>
  world.indices.get(index.name)?.docs.get(key);

function* replay(world: World, place: Place): Generator<undefined, undefined> {
  let state = idleReplay;
  let event: ReplayEvent | undefined = { type: 'chosen' };
  while (event !== undefined) {
    const next = stepReplay(state, event);
    world.note?.(
      `${place.name}: ${event.type} -> ${next.commands.map(({ type }) => type).join(', ')} [${next.state.phase}]`,
    );
    state = next.state;
    event = undefined;
    for (const command of next.commands) {
      yield;
      event = yield* carryOut(world, place, command);
    }
  }
  return undefined;
}

function* carryOut(world: World, place: Place, command: ReplayCommand): Generator<undefined, ReplayEvent | undefined> {
  switch (command.type) {
    case 'read': {
      const doc = deadLetterDoc(world, place);
      const epoch = latestEpoch(world);
      return {
        type: 'read',
        deadLetter: doc?.deadLetter,
        revision: String(doc?.revision ?? 0),
        epoch,
        tombstones: tombstonesOf(world, place, epoch),
      };
    }
    case 'put': {
      const doc = deadLetterDoc(world, place);
      if (doc === undefined || String(doc.revision) !== command.expected) return { type: 'conflict' };
      world.revision += 1;
      doc.deadLetter = command.deadLetter;
      doc.revision = world.revision;
      if (command.deadLetter.state === 'replayed') world.replayed.add(place.message.key);
      return { type: 'put', revision: String(doc.revision) };
    }
    case 'write': {
      const outcome = yield* write(
        world,
        place,
        world.without.has('rule-13') ? latestEpoch(world) : command.epoch,
        command.tombstones,
      );
      return outcome === undefined ? undefined : { type: 'written', outcomes: [{ indexSet: place.set, outcome }] };
    }
    case 'split':
    case 'done':
      return undefined;
  }
}

function tombstonesOf(world: World, { message, set }: Place, epoch: number): Tombstones {
  const name = world.epochs[epoch]?.indices[set] as string;
  const doc = world.indices.get(name)?.docs.get(message.key);
  return doc?.tombstone === true ? { [name]: String(doc.revision) } : {};
}

/** Undefined: no answer came; the dead letter keeps its target. */
function* write(
  world: World,
  { name, message, set }: Place,
  epoch: number,
  tombstones: Tombstones,
): Generator<undefined, SetOutcome['outcome'] | undefined> {
  const index = world.epochs[epoch]?.indices[set] as string;
  const recorded = tombstones[index] === undefined ? undefined : Number(tombstones[index]);
  const item = { key: message.key, message, partition: message.partition, offset: message.offset };
  const bulk = createBulk(name, set, index, [item], { partition: message.partition, generation: 0, next: 0 }, recorded);
  if (world.random.chance(0.1)) {
    world.late.push(bulk);
    return undefined;
  }
  applyBulk(world, bulk, false);
  const { storeCrashes } = world;
  yield;
  if (world.storeCrashes > storeCrashes || world.random.chance(0.05)) return undefined;
  const doc = world.indices.get(index)?.docs.get(message.key);
  if (doc === undefined && bulk.outcomes[0] === 'exists') return undefined;
  switch (bulk.outcomes[0]) {
    case 'stored':
      if (doc !== undefined) doc.durable = true;
      return 'stored';
    case 'exists':
      sync(world, index);
      return doc?.tombstone === true ? 'refused' : 'stored';
    case 'refused': {
      const stands = world.kind === 'marker' || writeTombstone(world, index, message.key, recorded);
      return stands === undefined ? (isGone(world, index) ? 'retired' : undefined) : stands ? 'refused' : 'stored';
    }
    default:
      return bulk.outcomes[0] === 'missing' && isRetired(world, index) ? 'retired' : undefined;
  }
}
