/**
 * What a simulated world consists of: topics, index sets, processors, a consumer group, an index store. No I/O, no
 * clock.
 */
import { createRun, idPrefix } from '../../../../core/message-ids.js';
import type { VersionedRecord } from '../../../../pipeline/delivery/partition-state.js';
import type { Epoch, PartitionRecord } from '../../../../pipeline/delivery/records.js';
import type { IndexState } from '../../../../sinks/index-sets/contract.js';
import type { Bulk } from './bulk.js';
import type { Drainer, ParkedRecord } from './drain.js';
import { createRandom, type Random } from './random.js';
import type { ReplayRun } from './replays.js';
import type { RetentionRun } from './retention.js';
import type { Session } from './session.js';
import type { Index } from './store.js';
import type { Switch } from './switches.js';

export type IndexSet = 'a' | 'b' | 'dead';
const allSets: readonly IndexSet[] = ['a', 'b', 'dead'];

/** An accepted message. */
export interface Message {
  readonly key: string;
  readonly partition: Partition;
  readonly offset: number;
  /** With the rule-set version this decides the routing. */
  readonly kind: number;
  /** The store refuses it while the world has a reason to. */
  readonly poison: boolean;
  /** The epoch under which it was committed. */
  epoch: number | undefined;
  /** Its topic was deleted before it was committed. */
  void: boolean;
}

export interface Entry {
  readonly key: string;
}

export interface Partition {
  readonly topic: 'logs' | 'dead';
  readonly number: number;
  readonly name: string;
  generation: number;
  log: Entry[];
  record: VersionedRecord | undefined;
  /** Partition records of former generations, as they were left. */
  readonly former: PartitionRecord[];
  committed: { readonly offset: number; readonly metadata: string } | undefined;
  prefix: string;
  sequence: number;
  /** Appends whose acknowledgement was cut: they come a second time. */
  resends: (readonly Entry[])[];
}

export interface Processor {
  readonly number: number;
  alive: boolean;
  paused: boolean;
  /** Steps that it still does after a pause before it hears of anything. */
  dazed: number;
  /** The group's term that it has joined. */
  term: number;
  /** The newest epoch it has heard of. */
  known: number;
  sessions: Session[];
}

interface Group {
  /** Counts every rebalance and is never set back: what the coordinator itself goes by. */
  term: number;
  /** What the members are told; begins anew when the group is forgotten. */
  generation: number;
  /** Processor number by place in `partitions`. */
  owners: number[];
}

export interface Shape {
  /** How the store recognises a document written twice: by id (several processors), or by offset (one). */
  readonly kind: 'id' | 'marker';
  readonly partitions: number;
  readonly processors: number;
}

export interface World {
  readonly random: Random;
  readonly kind: Shape['kind'];
  readonly without: ReadonlySet<Switch>;
  /** Tells one event to the trace; undefined when nobody listens. */
  readonly note: ((event: string) => void) | undefined;
  readonly partitions: Partition[];
  readonly messages: Map<string, Message>;
  readonly processors: Processor[];
  readonly group: Group;
  readonly epochs: Epoch[];
  readonly marks: Map<string, IndexState>;
  readonly indices: Map<string, Index>;
  /** Indices that retention has deleted, as they were. */
  readonly removed: Index[];
  readonly blocked: Set<IndexSet>;
  /** Why the store refuses poisonous messages at present; undefined: it takes them. */
  reason: string | undefined;
  /** Bulks whose sender has gone or has given up waiting; they may still be applied. */
  late: Bulk[];
  readonly parking: Map<IndexSet, ParkedRecord[]>;
  readonly drained: Map<IndexSet, number>;
  drainTerm: number;
  drainers: Drainer[];
  retention: RetentionRun[];
  replays: ReplayRun[];
  /** Messages whose dead letter was replayed. */
  readonly replayed: Set<string>;
  /** Messages of each index set that were stored before an older one of the same partition that is parked. */
  readonly overtaken: string[];
  revision: number;
  storeCrashes: number;
  nextIndex: number;
}

export function createWorld(
  seed: number,
  shape: Shape,
  without: ReadonlySet<Switch>,
  note: World['note'],
  random: Random = createRandom(seed),
): World {
  const world: World = {
    random,
    kind: shape.kind,
    without,
    note,
    partitions: [],
    messages: new Map(),
    processors: [],
    group: { term: 0, generation: 0, owners: [] },
    epochs: [],
    marks: new Map(),
    indices: new Map(),
    removed: [],
    blocked: new Set(),
    reason: undefined,
    late: [],
    parking: new Map(allSets.map((set) => [set, []])),
    drained: new Map(),
    drainTerm: 0,
    drainers: [],
    retention: [],
    replays: [],
    replayed: new Set(),
    overtaken: [],
    revision: 0,
    storeCrashes: 0,
    nextIndex: 1,
  };
  world.partitions.push(createPartition('dead', 0));
  for (let number = 0; number < shape.partitions; number += 1) world.partitions.push(createPartition('logs', number));
  for (let number = 0; number < shape.processors; number += 1)
    world.processors.push({ number, alive: true, paused: false, dazed: 0, term: -1, known: 0, sessions: [] });
  return world;
}

const firstRun = createRun(1, Buffer.alloc(4));

export function createPartition(topic: Partition['topic'], number: number): Partition {
  return {
    topic,
    number,
    name: topic === 'dead' ? 'dead' : `logs/${number}`,
    generation: 1,
    log: [],
    record: undefined,
    former: [],
    committed: undefined,
    prefix: idPrefix(firstRun, number),
    sequence: 0,
    resends: [],
  };
}

export const latestEpoch = (world: World): number => world.epochs.length - 1;

const routings: readonly (readonly IndexSet[])[] = [['a'], ['b'], ['a', 'b'], ['a']];

/** The index sets that the rules of an epoch name for a kind of message. */
export function routing(epoch: Epoch, kind: number): readonly IndexSet[] {
  return routings[(Number(epoch.ruleSetVersion) + kind) % routings.length] as readonly IndexSet[];
}

export function deadLetterKey(world: World, key: string, set: string, code: string): string {
  return world.without.has('rule-10-id') ? `${key}@${set}@${code}` : `${key}@${set}`;
}

/** Message id and index set of a dead letter. */
export function deadLetterOf(key: string): { readonly message: string; readonly set: IndexSet } {
  const [message = '', set = ''] = key.split('@');
  return { message, set: set as IndexSet };
}
