/** Index sets over the embedded store, LevelDB state and embedded topics, with the real processor. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig } from '../../../program/settings.js';
import type { Registry } from '../../../core/metrics.js';
import { Processor } from '../../../program/processor.js';
import { compileRules } from '../../../rules/compile/compile.js';
import { createFeed } from '../../rules/feed.js';
import type { RuleSet } from '../../../rules/contract.js';
import type { IndexInfo, IndexStore, StoreDocuments, StoreIndices } from '../../../sinks/stores/contract.js';
import type { DuckStoreOptions } from '../../../sinks/stores/duckdb/store.js';
import { until } from '../../program.js';
import { createEmbeddedEngines, processorSettings } from '../../program/embedded-engines.js';
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
  const engines = createEmbeddedEngines(folder, { words });
  const { logged, log, registry, topics, state, store } = engines;
  const { config } = loadConfig({
    folder,
    environment: {},
    overrides: { processing: { rotation_check_ms: never, retention_check_ms: never } },
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
    ...processorSettings(),
    registry,
    log,
    maxTotalBytes,
    compile: () => current,
    rules: feed,
    onFatal: (error) => {
      throw error;
    },
  });
  await engines.start();
  await processor.start();
  t.teardown(async () => {
    await processor.stop(5_000);
    await engines.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const rig: Rig = {
    processor,
    store,
    registry,
    faults,
    logged,
    async send(messages, bytes = 10, set = 'default') {
      const texts = Array.from({ length: messages }, () => randomBytes(bytes).toString('base64'));
      await engines.send(texts, set);
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
