/**
 * Reads and writes the durable records of the delivery protocol in the state store. Epochs are cached; the store
 * decides.
 */
import { isSluiceError } from '../../core/errors.js';
import { currentVersion, formatVersions, type FormatVersion } from '../../core/formats/versions.js';
import { assertVersion } from '../../core/formats/stamp.js';
import type { RuleSource } from '../../rules/contract.js';
import type { StateEntry, StateStore } from '../../state/contract.js';
import type { IndexLedger, IndexState, StoredIndexState } from '../../sinks/index-sets/contract.js';
import type { PartitionName } from '../dead-letter.js';
import type { Epoch, PartitionRecord } from '../delivery/records.js';
import type { VersionedRecord } from '../delivery/partition-state.js';

const language = currentVersion(formatVersions.ruleLanguage);
const epochKey = (number: number): string => `epochs/${String(number).padStart(10, '0')}`;
const indexPrefix = 'indices/';
const parkingPrefix = 'parking/';
const partitionPrefix = (topic: string): string => `partitions/${topic}/`;
const partitionKey = ({ topic, generation, partition }: PartitionName): string =>
  `${partitionPrefix(topic)}${generation}/${partition}`;

export interface Ledger extends IndexLedger {
  latestEpoch(): Epoch | undefined;
  /** The epoch, read from the store when it is not known yet; undefined when there is none of this number. */
  epoch(number: number): Promise<Epoch | undefined>;
  epochs(): ReadonlyMap<number, Epoch>;
  /** False when somebody else appended one first: refresh and decide again. */
  appendEpoch(epoch: Epoch): Promise<boolean>;
  /** Calls back when another process may have appended an epoch. Returns a stop function. */
  watchEpochs(onChange: () => void): () => void;
  keepRuleSource(version: string, source: RuleSource): Promise<void>;
  ruleSource(version: string): Promise<RuleSource | undefined>;
  partitionRecord(partition: PartitionName): Promise<VersionedRecord | undefined>;
  /** The new revision, or undefined on a conflict. */
  writePartitionRecord(
    partition: PartitionName,
    record: PartitionRecord,
    expected: string | undefined,
  ): Promise<string | undefined>;
  /** Records of one generation of a topic, by partition. */
  partitionRecords(topic: string, generation: number): Promise<ReadonlyMap<number, PartitionRecord>>;
  /** Records of all other generations of a topic. */
  otherPartitionRecords(topic: string, generation: number): Promise<readonly PartitionRecord[]>;
  /** Remembers for ever that the index set has a parking topic. */
  keepParkingSet(indexSet: string): Promise<void>;
  parkingSets(): Promise<readonly string[]>;
}

/** The value of an entry, in this program's shape: a record of a newer version names it. Throws FORMAT_NEWER. */
function valueOf(entry: StateEntry, format: FormatVersion = formatVersions.protocol): unknown {
  const version = (entry.value as { readonly format?: unknown } | null)?.format;
  if (typeof version === 'number') assertVersion(format, version, `state entry ${entry.key}`);
  return entry.value;
}

function indexStateOf(entry: StateEntry): StoredIndexState {
  return { value: valueOf(entry) as IndexState, revision: entry.revision };
}

/**
 * Calls of one turn of the event loop share one run, which begins after all of them: the partitions of an assignment
 * ask together.
 */
function shared(run: () => Promise<void>): () => Promise<void> {
  let planned: Promise<void> | undefined;
  return () => {
    planned ??= new Promise<void>((resolve) => {
      setImmediate(resolve);
    }).then(() => {
      planned = undefined;
      return run();
    });
    return planned;
  };
}

export function createLedger(state: StateStore): Ledger {
  const epochs = new Map<number, Epoch>();
  let latest: Epoch | undefined;

  const learn = (epoch: Epoch): void => {
    epochs.set(epoch.number, epoch);
    if (latest === undefined || epoch.number > latest.number) latest = epoch;
  };

  const put = async (key: string, value: unknown, expected: string | undefined): Promise<string | undefined> => {
    try {
      return (await state.put(key, value, expected)).revision;
    } catch (error) {
      if (isSluiceError(error) && error.code === 'STATE_CONFLICT') return undefined;
      throw error;
    }
  };

  return {
    refresh: shared(async () => {
      for (const entry of await state.list('epochs/')) learn(valueOf(entry) as Epoch);
    }),
    latestEpoch: () => latest,
    async epoch(number) {
      const known = epochs.get(number);
      if (known !== undefined) return known;
      const entry = await state.get(epochKey(number));
      if (entry === undefined) return undefined;
      learn(valueOf(entry) as Epoch);
      return entry.value as Epoch;
    },
    epochs: () => epochs,
    async appendEpoch(epoch) {
      const revision = await put(epochKey(epoch.number), epoch, undefined);
      if (revision !== undefined) learn(epoch);
      return revision !== undefined;
    },
    watchEpochs: (onChange) => state.watch('epochs/', onChange),
    async keepRuleSource(version, source) {
      if ((await state.get(`rule-sets/${version}`)) === undefined)
        await put(`rule-sets/${version}`, language > 1 ? { ...source, format: language } : source, undefined);
    },
    async ruleSource(version) {
      const entry = await state.get(`rule-sets/${version}`);
      return entry === undefined ? undefined : (valueOf(entry, formatVersions.ruleLanguage) as RuleSource);
    },
    async partitionRecord(partition) {
      const entry = await state.get(partitionKey(partition));
      return entry === undefined ? undefined : { record: valueOf(entry) as PartitionRecord, revision: entry.revision };
    },
    writePartitionRecord: (partition, record, expected) => put(partitionKey(partition), record, expected),
    async partitionRecords(topic, generation) {
      const prefix = `${partitionPrefix(topic)}${generation}/`;
      const entries = await state.list(prefix);
      return new Map(
        entries.map((entry) => [Number(entry.key.slice(prefix.length)), valueOf(entry) as PartitionRecord]),
      );
    },
    async otherPartitionRecords(topic, generation) {
      const current = `${partitionPrefix(topic)}${generation}/`;
      const entries = await state.list(partitionPrefix(topic));
      return entries.filter(({ key }) => !key.startsWith(current)).map((entry) => valueOf(entry) as PartitionRecord);
    },
    currentIndices: () => latest?.indices ?? {},
    async indexState(index) {
      const entry = await state.get(`${indexPrefix}${index}`);
      return entry === undefined ? undefined : indexStateOf(entry);
    },
    async indexStates() {
      const entries = await state.list(indexPrefix);
      return new Map(entries.map((entry) => [entry.key.slice(indexPrefix.length), indexStateOf(entry)]));
    },
    async writeIndexState(index, value, expected) {
      return (await put(`${indexPrefix}${index}`, value, expected)) !== undefined;
    },
    async keepParkingSet(indexSet) {
      if ((await state.get(`${parkingPrefix}${indexSet}`)) === undefined)
        await put(`${parkingPrefix}${indexSet}`, {}, undefined);
    },
    async parkingSets() {
      return (await state.list(parkingPrefix)).map((entry) => entry.key.slice(parkingPrefix.length));
    },
  };
}
