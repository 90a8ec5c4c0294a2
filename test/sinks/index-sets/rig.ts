/** Index sets over the embedded store, LevelDB state and embedded topics, with the real processor. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { stringify } from 'yaml';
import { loadConfig } from '../../../program/settings.js';
import { Registry } from '../../../core/metrics.js';
import { createRun, idPrefix, mintId } from '../../../core/message-ids.js';
import { Processor } from '../../../program/processor.js';
import { createEmbeddedTopicLog } from '../../../topics/embedded.js';
import { createDecoder } from '../../../gelf/decoder.js';
import { compileRules } from '../../../rules/compile/compile.js';
import { createFeed } from '../../rules/feed.js';
import type { RuleSet } from '../../../rules/contract.js';
import type { IndexInfo, IndexStore, StoreDocuments, StoreIndices } from '../../../sinks/stores/contract.js';
import { createDuckStore, type DuckStoreOptions } from '../../../sinks/stores/duckdb/store.js';
import { createLevelState } from '../../../state/leveldb.js';
import { until } from '../../program.js';
import { withFaults } from '../stores/support/with-faults.js';

type Limits = Readonly<Record<string, unknown>>;

const never = 3_600_000;
export const large = { type: 'size', max_size: '1 GB' };
export const keepAll = { type: 'none' };

/** Messages with `_set: other` go to the set `other`, where there is one, all others to `sluice_default`. */
export function rules(byDefault: Limits, other: Limits | null = { rotation: large, retention: keepAll }): RuleSet {
  const text = stringify({
    index_sets: [
      { id: 'sluice_default', ...byDefault },
      ...(other === null ? [] : [{ id: 'other', ...other }]),
      { id: 'sluice_dead_letters', rotation: large, retention: keepAll },
    ],
    streams: [
      { id: 'all-messages', title: 'All messages', index_set: 'sluice_default' },
      ...(other === null
        ? []
        : [
            {
              id: 'others',
              title: 'Others',
              index_set: 'other',
              remove_matches_from_default_stream: true,
              when: { field: 'set', equals: 'other' },
            },
          ]),
    ],
  });
  const compiled = compileRules({ files: [{ name: 'sets.yaml', text }] });
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  return compiled.ruleSet;
}

interface StoreFaults {
  readonly indices: Partial<StoreIndices>;
  readonly documents: Partial<StoreDocuments>;
}

interface Rig {
  readonly processor: Processor;
  readonly store: IndexStore;
  readonly registry: Registry;
  /** Methods that stand for those of the store, as the processor sees it. */
  readonly faults: StoreFaults;
  readonly logged: Record<string, unknown>[];
  /** Appends messages of this many random bytes. */
  send(messages: number, bytes?: number, set?: string): Promise<void>;
  /** Appends and waits until everything is committed. */
  deliver(messages: number, bytes?: number, set?: string): Promise<void>;
  change(ruleSet: RuleSet): Promise<void>;
  indices(set?: string): Promise<readonly IndexInfo[]>;
  names(set?: string): Promise<string[]>;
}

interface RigOptions {
  readonly maxTotalBytes?: number;
  /** None by default: they come behind the writes, when the machine has time. */
  readonly words?: DuckStoreOptions['words'];
}

export async function start(
  t: { teardown(action: () => Promise<void>): void },
  first: RuleSet,
  { maxTotalBytes, words = { segmentRows: 0 } }: RigOptions = {},
): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-index-sets-'));
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    new Writable({
      write: (line: Buffer, _, done) => {
        logged.push(JSON.parse(line.toString()) as Record<string, unknown>);
        done();
      },
    }),
  );
  const registry = new Registry();
  const { config } = loadConfig({
    folder,
    environment: {},
    overrides: { processing: { rotation_check_ms: never, retention_check_ms: never } },
  });
  const topics = createEmbeddedTopicLog({
    folder: join(folder, 'topics'),
    segmentBytes: 2 ** 24,
    reserveBytes: 0,
    log,
    registry,
  });
  const state = createLevelState({ folder: join(folder, 'state'), log });
  const store = createDuckStore({
    folder: join(folder, 'store'),
    memoryBytes: 2 ** 29,
    threads: 1,
    checkpointBytes: 2 ** 28,
    reserveBytes: 0,
    words,
    log,
    registry,
  });
  const faults: StoreFaults = { indices: {}, documents: {} };
  const faulty = withFaults(store, {
    indices: withFaults(store.indices, faults.indices),
    documents: withFaults(store.documents, faults.documents),
  });
  let current = first;
  const feed = createFeed(current);
  const processor = new Processor({
    config,
    topics,
    store: faulty,
    state,
    decoder: createDecoder(),
    logsTopic: 'logs',
    deadLettersTopic: 'dead-letters',
    largestRecordBytes: 2 ** 20,
    largestMessage: () => 8 * 2 ** 20,
    registry,
    log,
    maxTotalBytes,
    compile: () => current,
    rules: feed,
    onFatal: (error) => {
      throw error;
    },
  });
  const parts = [state, store, topics];
  for (const part of parts) await part.start();
  await topics.ensureTopics(
    ['logs', 'dead-letters'].map((name) => ({
      name,
      partitions: 1,
      retentionBytes: undefined,
      retentionMs: undefined,
      maxMessageBytes: 2 ** 20,
    })),
  );
  await processor.start();
  t.teardown(async () => {
    await processor.stop(5_000);
    for (const part of parts.reverse()) await part.stop(5_000);
    rmSync(folder, { recursive: true, force: true });
  });
  const prefix = idPrefix(createRun(Date.now()), 0);
  let sequence = 0;
  const rig: Rig = {
    processor,
    store,
    registry,
    faults,
    logged,
    async send(messages, bytes = 10, set = 'default') {
      const records = Array.from({ length: messages }, () => {
        const value = Buffer.from(
          JSON.stringify({
            version: '1.1',
            host: 'h',
            short_message: randomBytes(bytes).toString('base64'),
            _set: set,
          }),
        );
        return { key: mintId(prefix, sequence++), value, timestamp: Date.now(), origin: 'test 127.0.0.1:1' };
      });
      await topics.append('logs', 0, records);
    },
    async deliver(messages, bytes, set) {
      await rig.send(messages, bytes, set);
      await until(
        async () => ((await processor.lag()) === 0 ? true : undefined),
        20_000,
        () => JSON.stringify(logged.slice(-5)),
      );
    },
    async change(ruleSet) {
      current = ruleSet;
      feed.change(current);
      await until(
        () => (processor.rules() === ruleSet ? true : undefined),
        10_000,
        () => JSON.stringify(logged.slice(-5)),
      );
    },
    indices: (set = 'sluice_default') => store.indices.list(set),
    names: async (set = 'sluice_default') => (await store.indices.list(set)).map(({ name }) => name),
  };
  return rig;
}

/** Starts another index, with one document in the one before and one in it, so that the one before is passed. */
export async function rotate(rig: Rig, set = 'sluice_default'): Promise<void> {
  const kind = set === 'other' ? 'other' : 'default';
  await rig.deliver(1, 10, kind);
  await rig.processor.indexSets.rotateNow(set);
  await rig.deliver(1, 10, kind);
}
