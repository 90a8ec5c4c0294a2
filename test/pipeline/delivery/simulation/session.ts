/**
 * One assignment of one partition to one processor: does what the state machine commands, a step at a time, as
 * `pipeline/consume/run-machine.ts` does.
 */
import { step } from '../../../../pipeline/delivery/machine.js';
import {
  unassigned,
  type DeliveryCommand,
  type DeliveryEvent,
  type PartitionState,
} from '../../../../pipeline/delivery/partition-state.js';
import { unparkSet } from '../../../../pipeline/delivery/records.js';
import {
  checkResends,
  decodeSequences,
  encodeSequences,
  type ResendCheck,
  type Sequences,
} from '../../../../pipeline/delivery/sequences.js';
import { abandonDelivery, advanceDelivery, createDelivery, type Delivery } from './delivery.js';
import { markerKey, sync } from './store.js';
import {
  latestEpoch,
  type Entry,
  type IndexSet,
  type Message,
  type Partition,
  type Processor,
  type World,
} from './world.js';

export interface Session {
  readonly name: string;
  readonly processor: Processor;
  readonly partition: Partition;
  readonly topicGeneration: number;
  readonly generation: number;
  readonly term: number;
  readonly log: readonly Entry[];
  /** First the steps of the assignment, then `run`. */
  stage: 'refresh' | 'position' | 'end' | 'run' | 'over';
  state: PartitionState;
  queue: DeliveryCommand[];
  /** The next offset to fetch. */
  next: number;
  sequences: Sequences;
  check: ResendCheck | undefined;
  delivery: Delivery | undefined;
  /** Log end of the parking topic, read after this session's last append to it. */
  readonly parkedEnd: Map<string, number>;
  /** The newest epoch when its last batch was sent; for worlds without rule 1. */
  newest: number;
  /** A record whose write was not answered. */
  unanswered: Extract<DeliveryCommand, { type: 'write_record' }> | undefined;
}

export function createSession(world: World, processor: Processor, partition: Partition): Session {
  const { group } = world;
  return {
    name: `p${processor.number} ${partition.name} g${group.generation}`,
    processor,
    partition,
    topicGeneration: partition.generation,
    generation: group.generation,
    term: group.term,
    log: partition.log,
    stage: 'refresh',
    state: unassigned,
    queue: [],
    next: 0,
    sequences: new Map(),
    check: undefined,
    delivery: undefined,
    parkedEnd: new Map(),
    newest: 0,
    unanswered: undefined,
  };
}

export const ownsPartition = (world: World, session: Session): boolean => session.term === world.group.term;

export function endSession(world: World, session: Session): void {
  if (session.stage === 'over') return;
  world.note?.(`${session.name}: ends`);
  session.stage = 'over';
  if (session.delivery !== undefined) abandonDelivery(world, session.delivery);
  session.delivery = undefined;
  const { sessions } = session.processor;
  sessions.splice(sessions.indexOf(session), 1);
}

export function feed(world: World, session: Session, event: DeliveryEvent): void {
  const next = step(session.state, event);
  session.state = next.state;
  session.queue.push(...next.commands);
  if (event.type === 'epoch_appended' && next.commands.length === 0) return;
  world.note?.(
    `${session.name}: ${eventText(event)} -> ${next.commands.map(commandText).join(', ') || '-'} [${next.state.phase}]`,
  );
}

function eventText(event: DeliveryEvent): string {
  switch (event.type) {
    case 'assigned':
      return `assigned at ${event.position}, log end ${event.logEnd}, marker ${event.highestMarker}`;
    case 'record_read':
      return `record_read ${event.found === undefined ? 'none' : JSON.stringify(event.found.record)}, latest epoch ${event.latestEpoch}${event.stillOwner ? '' : ', no longer owner'}`;
    case 'fetched':
      return `fetched ${event.first}..${event.next - 1}, latest epoch ${event.latestEpoch}`;
    case 'index_states_read':
      return `index_states_read ${event.retired ? 'retired' : 'open'}`;
    case 'epoch_appended':
      return `epoch_appended ${event.latestEpoch}`;
    case 'blocked':
      return `blocked ${event.indexSets.join(' ')}`;
    case 'drained':
      return `drained ${event.indexSet}`;
    case 'stored':
      return `stored${event.alreadyStoredIn.length > 0 ? `, some before in ${event.alreadyStoredIn.join(' ')}` : ''}`;
    default:
      return event.type;
  }
}

function commandText(command: DeliveryCommand): string {
  switch (command.type) {
    case 'write_record':
      return `write_record ${JSON.stringify(command.record)}`;
    case 'deliver':
      return `deliver ${spansText(command.spans)}${command.park.length > 0 ? `, park ${command.park.join(' ')}` : ''}`;
    case 'park':
      return `park ${command.indexSets.join(' ')} ${spansText(command.spans)}`;
    case 'sync':
      return `sync ${command.indices.join(' ')}`;
    case 'commit':
      return `commit ${command.offset}`;
    case 'abandon':
      return `abandon (${command.reason})`;
    default:
      return command.type;
  }
}

const spansText = (spans: Extract<DeliveryCommand, { type: 'deliver' }>['spans']): string =>
  spans.map(({ from, to, epoch }) => `${from}..${to - 1}@e${epoch}`).join(' ');

/** The session's next step. */
export function advance(world: World, session: Session): void {
  const { partition } = session;
  switch (session.stage) {
    case 'over':
      return;
    case 'refresh':
      session.processor.known = latestEpoch(world);
      session.stage = 'position';
      return;
    case 'position':
      session.next = partition.committed?.offset ?? 0;
      session.sequences = decodeSequences(partition.committed?.metadata ?? '');
      session.stage = 'end';
      return;
    case 'end': {
      const logEnd = world.without.has('rule-4') ? 0 : session.log.length;
      session.stage = 'run';
      return feed(world, session, {
        type: 'assigned',
        groupGeneration: session.generation,
        position: session.next,
        logEnd,
        highestMarker: highestMarker(world, session),
        sequences: session.sequences,
      });
    }
    case 'run': {
      const command = session.queue.shift();
      if (session.unanswered !== undefined) return confirmRecord(world, session, session.unanswered);
      if (command !== undefined) return carryOut(world, session, command);
      if (session.delivery !== undefined) return advanceDelivery(world, session, session.delivery);
      if (session.state.phase === 'ready') return idle(world, session);
      if (session.state.phase === 'abandoned') return retake(world, session);
    }
  }
}

/** Rule 11: of the newest indices of all sets. */
function highestMarker(world: World, session: Session): number {
  if (world.kind === 'id') return 0;
  const key = markerKey(world, session.partition, session.topicGeneration);
  let highest = 0;
  for (const epoch of world.epochs.slice(-3)) {
    for (const name of Object.values(epoch.indices))
      highest = Math.max(highest, world.indices.get(name)?.markers.get(key) ?? 0);
  }
  return highest;
}

function carryOut(world: World, session: Session, command: DeliveryCommand): void {
  switch (command.type) {
    case 'read_record':
      return readRecord(world, session);
    case 'write_record':
      return writeRecord(world, session, command);
    case 'read_index_states':
      return readMarks(world, session, command.epoch);
    case 'deliver':
    case 'park':
      session.delivery = createDelivery(command);
      return;
    case 'sync':
      if (!world.without.has('rule-12')) command.indices.forEach((index) => sync(world, index));
      return feed(world, session, { type: 'synced' });
    case 'commit':
      return commit(world, session, command.offset, command.sequences);
    case 'ready':
    case 'abandon':
      return;
  }
}

function readRecord(world: World, session: Session): void {
  const { record } = session.partition;
  const found =
    record !== undefined && world.without.has('rule-9')
      ? { ...record, record: Object.keys(record.record.parked ?? {}).reduce(unparkSet, record.record) }
      : record;
  feed(world, session, {
    type: 'record_read',
    found,
    latestEpoch: session.processor.known,
    stillOwner: world.without.has('rule-2-proof') || ownsPartition(world, session),
  });
}

function writeRecord(
  world: World,
  session: Session,
  command: Extract<DeliveryCommand, { type: 'write_record' }>,
): void {
  const { partition } = session;
  if (partition.generation !== session.topicGeneration) return feed(world, session, { type: 'record_conflict' });
  if (partition.record?.revision !== command.expected && !world.without.has('rule-2'))
    return feed(world, session, { type: 'record_conflict' });
  world.revision += 1;
  partition.record = { record: command.record, revision: String(world.revision) };
  if (world.random.chance(0.05)) {
    session.unanswered = command;
    return;
  }
  feed(world, session, { type: 'record_written', revision: partition.record.revision });
}

/** A write whose answer was lost looks like a conflict with ourselves: what stands there decides. */
function confirmRecord(
  world: World,
  session: Session,
  command: Extract<DeliveryCommand, { type: 'write_record' }>,
): void {
  const { record } = session.partition;
  session.unanswered = undefined;
  if (record !== undefined && JSON.stringify(record.record) === JSON.stringify(command.record))
    return feed(world, session, { type: 'record_written', revision: record.revision });
  feed(world, session, { type: 'record_conflict' });
}

function readMarks(world: World, session: Session, epoch: number): void {
  const names = Object.values(world.epochs[epoch]?.indices ?? {});
  const retired = !world.without.has('rule-7-marks') && names.some((name) => world.marks.get(name)?.state !== 'open');
  if (retired) session.processor.known = latestEpoch(world);
  feed(world, session, { type: 'index_states_read', retired, latestEpoch: session.processor.known });
}

/** Between two batches: what is parked may have been drained; else the next batch. */
function idle(world: World, session: Session): void {
  if (world.random.chance(0.5) && reportDrained(world, session)) return;
  const { log, next: first } = session;
  if (first >= log.length) {
    reportDrained(world, session);
    return;
  }
  const next = Math.min(log.length, first + 1 + world.random.pick(3));
  session.check = checkResends(log.slice(first, next), session.state.sequences);
  feed(world, session, { type: 'fetched', first, next, latestEpoch: session.processor.known });
}

function reportDrained(world: World, session: Session): boolean {
  const { record } = session.state.stored ?? {};
  for (const indexSet of Object.keys(record?.parked ?? {})) {
    const end = session.parkedEnd.get(indexSet);
    const log = world.parking.get(indexSet as IndexSet) ?? [];
    if (end === undefined) session.parkedEnd.set(indexSet, log.length);
    else if ((world.drained.get(indexSet as IndexSet) ?? 0) >= end) {
      feed(world, session, { type: 'drained', indexSet });
      return true;
    }
  }
  return false;
}

/** Given up on a conflict, but not taken away as far as the processor knows: taken over anew. */
function retake(world: World, session: Session): void {
  if (!ownsPartition(world, session) && world.random.chance(0.5)) return endSession(world, session);
  session.parkedEnd.clear();
  session.stage = 'refresh';
}

/** Only the group's present owner may. What was committed fixes the epochs of its messages. */
function commit(world: World, session: Session, offset: number, sequences: Sequences): void {
  const { partition, check, next: first } = session;
  if (!ownsPartition(world, session) || partition.generation !== session.topicGeneration)
    return endSession(world, session);
  partition.committed = { offset, metadata: encodeSequences(sequences) };
  world.note?.(`${partition.name}: committed ${offset}`);
  const ranges = world.without.has('rule-1')
    ? [{ from: 0, epoch: session.newest }]
    : (session.state.stored?.record.ranges ?? []);
  for (let at = first; at < offset; at += 1) {
    const message = world.messages.get((session.log[at] as Entry).key);
    if (message !== undefined && (message.offset === at || check?.resent.has(at - first) !== true))
      fixEpoch(message, ranges, at);
  }
  session.next = offset;
}

function fixEpoch(
  message: Message,
  ranges: readonly { readonly from: number; readonly epoch: number }[],
  offset: number,
): void {
  if (message.epoch !== undefined) return;
  message.epoch = (ranges.findLast(({ from }) => from <= offset) ?? ranges[0])?.epoch;
}

/** A processor hears of the newest epoch; its silent partitions take it. */
export function notice(world: World, processor: Processor): void {
  processor.known = latestEpoch(world);
  for (const session of [...processor.sessions]) {
    if (
      session.stage === 'run' &&
      session.state.phase === 'ready' &&
      session.queue.length === 0 &&
      session.delivery === undefined
    )
      feed(world, session, { type: 'epoch_appended', latestEpoch: processor.known });
  }
}
