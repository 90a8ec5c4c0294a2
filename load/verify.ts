/** Compares what a load sent with what the topic and the store hold. */
import { setTimeout as sleep } from 'node:timers/promises';
import { indexPrefix } from '../schemas/index-names.js';
import type { LoadRun } from './contract.js';
import { createReader } from './generator.js';
import { createBitSet, createIdTable, type BitSet } from './id-table.js';

/** What the verification reads. The pipeline and the control socket implement it. */
export interface VerifySources {
  /**
   * Every record of the topic logs, partition by partition in offset order, by a consumer of its own. Records of others
   * are skipped.
   */
  readTopic(
    onRecords: (records: readonly { readonly id: string; readonly value: Buffer }[]) => void | Promise<void>,
  ): Promise<void>;
  /** Every stored id, index by index. */
  scanStore(onIds: (index: string, ids: readonly string[]) => void | Promise<void>): Promise<void>;
  /** Ids of messages (not of dead letters) that were refused by the store and lie among the dead letters. */
  scanDeadLetters?: ((onIds: (ids: readonly string[]) => void | Promise<void>) => Promise<void>) | undefined;
  /** Records that the processors have not committed yet. */
  lag(): Promise<number>;
  /** Documents of the run that a search finds. */
  searchable?: ((run: string) => Promise<number>) | undefined;
  /** Messages that rules dropped during the run. */
  dropped?: (() => Promise<number>) | undefined;
  /** Makes what is written visible to `scanStore` and `searchable`. */
  refresh?: (() => Promise<void>) | undefined;
}

export interface VerifyReport {
  readonly sent: number;
  /** Load messages in the topic, each counted once. */
  readonly accepted: number;
  /**
   * Message ids of the load in the topic, each counted once; above `accepted` when a sender's message came in twice.
   */
  readonly records: number;
  /** Records that repeat an id. */
  readonly resends: number;
  /** Ids that are stored in at least one index. */
  readonly stored: number;
  readonly deadLettered: number;
  readonly dropped: number;
  /** Accepted ids that are neither stored nor dead-lettered nor dropped by a rule. */
  readonly missing: number;
  /** Ids stored in two indices of one index set, and load messages stored under two ids. */
  readonly doubled: number;
  /** Messages of a TCP or TLS connection that stand in the topic behind a later one, resends left out. */
  readonly outOfOrder: number;
  readonly searchable: number | undefined;
  /** Whether all had arrived before the verification counted. */
  readonly settled: boolean;
  /** At most 10 ids each. */
  readonly examples: { readonly missing: readonly string[]; readonly doubled: readonly string[] };
  readonly ok: boolean;
}

const maxExamples = 10;
/** Load messages with several ids that are looked at one by one; each further one counts as doubled. */
const maxRepeated = 1_000_000;

/** Pure reading; waits for nothing. Memory: about 20 bytes a message. */
export async function verify(run: LoadRun, sources: VerifySources, settled = true): Promise<VerifyReport> {
  const topic = await readAccepted(run, sources);
  const store = await readStored(topic, sources);
  const dead = createBitSet();
  await sources.scanDeadLetters?.((ids) => {
    for (const id of ids) {
      const slot = topic.ids.find(id);
      if (slot !== undefined && !store.stored.has(slot)) dead.add(slot);
    }
  });
  const dropped = (await sources.dropped?.()) ?? 0;
  const records = topic.ids.size();
  const absent = records - store.stored.count() - dead.count();
  const missing = Math.max(0, absent - dropped);
  const doubled = store.doubled + topic.twice(store.stored);
  return {
    sent: run.sent,
    accepted: topic.accepted(),
    records,
    resends: topic.resends,
    stored: store.stored.count(),
    deadLettered: dead.count(),
    dropped,
    missing,
    doubled,
    outOfOrder: topic.outOfOrder,
    searchable: await sources.searchable?.(run.id),
    settled,
    examples: {
      missing: missing === 0 ? [] : await missingExamples(topic, store.stored, dead, sources),
      doubled: store.examples,
    },
    ok: missing === 0 && doubled === 0,
  };
}

interface Accepted {
  readonly ids: ReturnType<typeof createIdTable>;
  readonly accepted: () => number;
  /** Load messages of which two ids are stored. */
  readonly twice: (stored: BitSet) => number;
  resends: number;
  outOfOrder: number;
  readonly read: ReturnType<typeof createReader>;
}

interface LaneState {
  readonly seen: BitSet;
  readonly ordered: boolean;
  last: number;
}

async function readAccepted(run: LoadRun, sources: VerifySources): Promise<Accepted> {
  const ids = createIdTable();
  const lanes = new Map<number, LaneState>(
    run.lanes.map((lane) => [
      lane.connection,
      { seen: createBitSet(), ordered: lane.transport === 'tcp' || lane.transport === 'tls', last: -1 },
    ]),
  );
  const read = createReader(run.id);
  // Slots of load messages that came in under several ids; few, since only a sender that repeats itself makes them.
  const repeated = new Map<string, number[]>();
  const firstSlots = new Map<string, number>();
  let further = 0;
  const result: Accepted = {
    ids,
    read,
    resends: 0,
    outOfOrder: 0,
    accepted: () => [...lanes.values()].reduce((sum, lane) => sum + lane.seen.count(), 0),
    twice: (stored) =>
      further +
      [...repeated].filter(
        ([key, slots]) =>
          [...slots, firstSlots.get(key) ?? -1].filter((slot) => slot >= 0 && stored.has(slot)).length > 1,
      ).length,
  };
  await sources.readTopic((records) => {
    for (const record of records) {
      const place = read(record.value);
      const lane = place === undefined ? undefined : lanes.get(place.connection);
      if (place === undefined || lane === undefined) continue;
      const { slot, isNew } = ids.add(record.id);
      if (!isNew) result.resends += 1;
      else if (lane.seen.add(place.sequence)) {
        if (lane.ordered && place.sequence < lane.last) result.outOfOrder += 1;
        lane.last = Math.max(lane.last, place.sequence);
      } else {
        const key = `${place.connection}/${place.sequence}`;
        if (repeated.size >= maxRepeated && !repeated.has(key)) further += 1;
        else repeated.set(key, [...(repeated.get(key) ?? []), slot]);
      }
    }
  });
  if (repeated.size > 0) await findFirstSlots(sources, result, repeated, firstSlots);
  return result;
}

/** A second reading finds the first id of each repeated message, so that no list of all messages is kept. */
async function findFirstSlots(
  sources: VerifySources,
  topic: Accepted,
  repeated: ReadonlyMap<string, readonly number[]>,
  firstSlots: Map<string, number>,
): Promise<void> {
  await sources.readTopic((records) => {
    for (const record of records) {
      const place = topic.read(record.value);
      if (place === undefined) continue;
      const key = `${place.connection}/${place.sequence}`;
      const slot = topic.ids.find(record.id);
      if (slot !== undefined && repeated.has(key) && repeated.get(key)?.includes(slot) === false)
        firstSlots.set(key, slot);
    }
  });
}

interface Stored {
  readonly stored: BitSet;
  doubled: number;
  readonly examples: string[];
}

async function readStored(topic: Accepted, sources: VerifySources): Promise<Stored> {
  const result: Stored = { stored: createBitSet(), doubled: 0, examples: [] };
  const sets = new Map<string, BitSet>();
  await sources.scanStore((index, ids) => {
    const name = indexPrefix(index) ?? index;
    let set = sets.get(name);
    if (set === undefined) sets.set(name, (set = createBitSet()));
    for (const id of ids) {
      const slot = topic.ids.find(id);
      if (slot === undefined) continue;
      result.stored.add(slot);
      if (set.add(slot)) continue;
      result.doubled += 1;
      if (result.examples.length < maxExamples) result.examples.push(id);
    }
  });
  return result;
}

async function missingExamples(
  topic: Accepted,
  stored: BitSet,
  dead: BitSet,
  sources: VerifySources,
): Promise<string[]> {
  const examples = new Set<string>();
  await sources.readTopic((records) => {
    for (const { id } of records) {
      if (examples.size >= maxExamples) return;
      const slot = topic.ids.find(id);
      if (slot !== undefined && !stored.has(slot) && !dead.has(slot)) examples.add(id);
    }
  });
  return [...examples];
}

interface SettleOptions {
  readonly deadlineMs: number;
  readonly pollMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Waits until nothing is left to process and what a search finds no longer grows. False at the deadline. */
export async function waitUntilSettled(run: LoadRun, sources: VerifySources, options: SettleOptions): Promise<boolean> {
  const deadline = performance.now() + options.deadlineMs;
  let before: number | undefined;
  while (performance.now() < deadline && options.signal?.aborted !== true) {
    const lag = await sources.lag();
    await sources.refresh?.();
    const searchable = (await sources.searchable?.(run.id)) ?? 0;
    if (lag === 0 && searchable === before) return true;
    before = lag === 0 ? searchable : undefined;
    await sleep(options.pollMs, undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(
      () => undefined,
    );
  }
  return false;
}
