/**
 * A small world around the delivery state machine: one topic of one partition, processors that come and go, an index store
 * that recognises ids, bulks that arrive late. Everything is decided by a seeded generator, so a failure is replayed by its seed.
 */
import { createRun, idPrefix, mintId } from '../../../pipeline/delivery/ids.js';
import { step, unassigned, type DeliveryCommand, type DeliveryEvent, type PartitionState, type VersionedRecord } from '../../../pipeline/delivery/partition.js';
import type { Epoch } from '../../../pipeline/delivery/records.js';
import { checkResends, decodeSequences, encodeSequences, type ResendCheck } from '../../../pipeline/delivery/sequences.js';

interface Bulk {
  readonly index: string;
  readonly id: string;
}

interface Processor {
  readonly generation: number;
  state: PartitionState;
  pending: DeliveryCommand[];
  check: ResendCheck | undefined;
  /** Bulks sent and not yet applied. */
  sent: Bulk[];
}

export interface Drops {
  /** Rule 1 left out: the newest epoch decides instead of the offset's. */
  readonly epochs?: boolean;
  /** Rule 3 left out: a processor writes without asking whether it still owns the partition. */
  readonly fence?: boolean;
  /** Rule 5 left out. */
  readonly sequences?: boolean;
}

/** Small and good enough (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs one world to rest and returns what is wrong with it, or undefined. */
export function simulate(seed: number, drops: Drops = {}): string | undefined {
  const random = createRandom(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const prefix = idPrefix(createRun(seed, Buffer.alloc(4)), 0);
  const topic: string[] = [];
  const epochs: Epoch[] = [{ number: 0, ruleSetVersion: '0', indices: { set: 'set_0' }, createdAt: 0, cause: 'start' }];
  const stored = new Map<string, Set<string>>();
  const trace: string[] = [];
  let record: VersionedRecord | undefined;
  let revision = 0;
  let committed = { offset: 0, metadata: '' };
  let generation = 0;
  let owner: Processor | undefined;
  let late: Bulk[] = [];
  const zombies: Processor[] = [];
  let sequence = 0;

  const latest = (): number => epochs.length - 1;
  const append = (): void => {
    for (let count = 1 + pick(3); count > 0; count -= 1) topic.push(mintId(prefix, sequence++));
    if (random() < 0.3) topic.push(...topic.slice(-1 - pick(2)));
  };
  const apply = (bulk: Bulk): void => {
    const ids = stored.get(bulk.index) ?? new Set<string>();
    ids.add(bulk.id);
    stored.set(bulk.index, ids);
  };
  const feed = (processor: Processor, event: DeliveryEvent): void => {
    const next = step(processor.state, event);
    processor.state = next.state;
    processor.pending = [...next.commands];
    trace.push(`g${processor.generation} ${event.type} -> ${next.commands.map(({ type }) => type).join(',')} [${next.state.phase}]`);
  };
  const start = (): void => {
    generation += 1;
    owner = { generation, state: unassigned, pending: [], check: undefined, sent: [] };
    feed(owner, { type: 'assigned', groupGeneration: generation, position: committed.offset, logEnd: topic.length, highestMarker: 0, sequences: decodeSequences(committed.metadata) });
  };
  const deliver = (processor: Processor, command: Extract<DeliveryCommand, { type: 'deliver' }>): void => {
    if (drops.fence !== true && processor !== owner) return feed(processor, { type: 'failed' });
    for (const span of command.spans) {
      const epoch = epochs[drops.epochs === true ? latest() : span.epoch] as Epoch;
      for (let offset = span.from; offset < span.to; offset += 1) {
        const place = offset - (processor.state.batch?.first ?? 0);
        if (drops.sequences !== true && processor.check?.resent.has(place) === true) continue;
        processor.sent.push({ index: epoch.indices['set'] as string, id: topic[offset] as string });
      }
    }
  };
  const carryOut = (processor: Processor): void => {
    const command = processor.pending.shift();
    if (command === undefined) return idle(processor);
    switch (command.type) {
      case 'read_record': return feed(processor, { type: 'record_read', found: record, latestEpoch: latest(), stillOwner: processor === owner });
      case 'write_record':
        if (record?.revision !== command.expected) return feed(processor, { type: 'record_conflict' });
        revision += 1;
        record = { record: command.record, revision: String(revision) };
        return feed(processor, { type: 'record_written', revision: record.revision });
      case 'read_marks': return feed(processor, { type: 'marks_read', retired: false, latestEpoch: latest() });
      case 'deliver': return deliver(processor, command);
      case 'sync': return feed(processor, { type: 'synced' });
      case 'commit':
        if (processor === owner) committed = { offset: command.offset, metadata: encodeSequences(command.sequences) };
        return;
      case 'ready': return;
      case 'abandon': return;
    }
  };
  const idle = (processor: Processor): void => {
    if (processor.state.phase === 'delivering') {
      processor.sent.forEach(apply);
      processor.sent = [];
      return feed(processor, { type: 'stored', alreadyStoredIn: [], sequences: processor.check?.after ?? new Map() });
    }
    if (processor.state.phase !== 'ready') return;
    const first = processor.state.committed;
    if (first >= topic.length) return;
    const next = Math.min(topic.length, first + 1 + pick(3));
    processor.check = checkResends(topic.slice(first, next).map((key) => ({ key })), processor.state.sequences);
    feed(processor, { type: 'fetched', first, next, latestEpoch: latest() });
  };
  /** Between two batches a processor hears of a new epoch. */
  const notice = (processor: Processor | undefined): void => {
    if (processor !== undefined && processor.state.phase === 'ready' && processor.pending.length === 0) feed(processor, { type: 'epoch_appended', latestEpoch: latest() });
  };
  const rotate = (rules: boolean): void => {
    const last = epochs[latest()] as Epoch;
    const index = rules ? (last.indices['set'] as string) : `set_${epochs.length}`;
    epochs.push({ ...last, number: epochs.length, indices: { set: index }, cause: rules ? 'rules' : 'rotation' });
    trace.push(`epoch ${latest()} ${index}`);
  };
  /** The bulk of a crashed or paused processor may still arrive, whole or in part. */
  const replace = (paused: boolean): void => {
    if (owner === undefined) return;
    trace.push(`${paused ? 'pause' : 'crash'} g${owner.generation}`);
    if (paused) zombies.push(owner);
    else late.push(...owner.sent.filter(() => random() < 0.7));
    start();
  };

  start();
  for (let turn = 0; turn < 120; turn += 1) {
    const dice = random();
    const zombie = zombies[pick(zombies.length)];
    if (dice < 0.15 && topic.length < 14) append();
    else if (dice < 0.2 && epochs.length < 5) rotate(random() < 0.3);
    else if (dice < 0.24 && generation < 5) replace(random() < 0.5);
    else if (dice < 0.3 && late.length > 0) apply(late.splice(pick(late.length), 1)[0] as Bulk);
    else if (dice < 0.4 && zombie !== undefined) carryOut(zombie);
    else if (dice < 0.45) notice(zombie !== undefined && random() < 0.5 ? zombie : owner);
    else if (owner !== undefined) carryOut(owner);
  }
  zombies.forEach((zombie) => { for (let turn = 0; turn < 20; turn += 1) carryOut(zombie); });
  late.forEach(apply);
  late = [];
  for (let turn = 0; turn < 400 && owner !== undefined; turn += 1) {
    if (owner.state.phase === 'abandoned') start();
    carryOut(owner);
  }
  const problem = verdict(topic, stored, committed.offset);
  return problem === undefined ? undefined : `seed ${seed}: ${problem}\n${trace.join('\n')}`;
}

function verdict(topic: readonly string[], stored: ReadonlyMap<string, ReadonlySet<string>>, committed: number): string | undefined {
  if (committed !== topic.length) return `not worked off: ${committed} of ${topic.length}`;
  for (const id of new Set(topic)) {
    const places = [...stored].filter(([, ids]) => ids.has(id)).map(([index]) => index);
    if (places.length !== 1) return `${id} is in ${places.length} indices: ${places.join(', ')}`;
  }
  return undefined;
}
