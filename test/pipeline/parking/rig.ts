/** The real processor over embedded engines, whose store can be made to refuse the writes of single indices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig } from '../../../program/settings.js';
import type { Registry } from '../../../core/metrics.js';
import { Processor } from '../../../program/processor.js';
import type { TopicLog } from '../../../topics/contract.js';
import { compileRules } from '../../../rules/compile/compile.js';
import { createFeed } from '../../rules/feed.js';
import type { RuleSet } from '../../../rules/contract.js';
import type { IndexStore, StoreDocuments } from '../../../sinks/stores/contract.js';
import { storeErrors } from '../../../sinks/stores/errors.js';
import { withFaults } from '../../sinks/stores/support/with-faults.js';
import { until } from '../../program.js';
import { createEmbeddedEngines, processorSettings } from '../../program/embedded-engines.js';

const never = 3_600_000;
const large = { type: 'size', max_size: '1 GB' };

/**
 * Messages with `_set: other` go to the set `other`, those with `_set: both` there too, all others to `sluice_default`
 * alone.
 */
export function parkingRules(retention: Readonly<Record<string, unknown>> = { type: 'none' }): RuleSet {
  const text = stringify({
    index_sets: ['sluice_default', 'other', 'sluice_dead_letters'].map((id) => ({ id, rotation: large, retention })),
    streams: [
      { id: 'all-messages', title: 'All messages', index_set: 'sluice_default' },
      {
        id: 'others',
        title: 'Others',
        index_set: 'other',
        remove_matches_from_default_stream: true,
        when: { field: 'set', equals: 'other' },
      },
      { id: 'both', title: 'Both', index_set: 'other', when: { field: 'set', equals: 'both' } },
    ],
  });
  const compiled = compileRules({ files: [{ name: 'sets.yaml', text }] });
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  return compiled.ruleSet;
}

interface ParkingRig {
  readonly folder: string;
  readonly logged: readonly Record<string, unknown>[];
  readonly topics: TopicLog;
  readonly store: IndexStore;
  readonly processor: Processor;
  readonly registry: Registry;
  /** Indices whose writes fail with STORE_INDEX_BLOCKED. */
  readonly blocked: Set<string>;
  send(messages: number, set?: string): Promise<readonly string[]>;
  /** Ids in the index set, in the order of their offsets where the store tells. */
  ids(set?: string): Promise<string[]>;
  settled(): Promise<void>;
  metric(name: string, indexSet: string): Promise<number>;
  explain(): string;
  stop(): Promise<void>;
}

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export function parkingFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-parking-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function startParkingRig(
  t: Teardown,
  folder: string,
  rules: RuleSet = parkingRules(),
  parkAfterMs = 300,
): Promise<ParkingRig> {
  const engines = createEmbeddedEngines(folder);
  const { logged, log, registry, topics, state, store } = engines;
  const { config } = loadConfig({
    folder,
    environment: {},
    overrides: {
      processing: {
        rotation_check_ms: never,
        retention_check_ms: 500,
        park_after_ms: parkAfterMs,
        wait_for_more_ms: 20,
      },
    },
  });
  const blocked = new Set<string>();
  const write: StoreDocuments['write'] = (request) =>
    blocked.has(request.index)
      ? Promise.reject(storeErrors.create('STORE_INDEX_BLOCKED', { place: request.index, got: 'blocked by the test' }))
      : store.documents.write(request);
  const guarded = withFaults(store, { documents: withFaults(store.documents, { write }) });
  const processor = new Processor({
    config,
    topics,
    store: guarded,
    state,
    ...processorSettings(),
    registry,
    log,
    maxTotalBytes: undefined,
    compile: (source) => {
      const compiled = compileRules(source);
      if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
      return compiled.ruleSet;
    },
    rules: createFeed(rules),
    onFatal: (error) => {
      logged.push({ fatal: String(error) });
    },
  });
  await engines.start();
  await processor.start();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      await processor.stop(5_000);
      await engines.stop();
    })();
    return stopping;
  };
  t.teardown(stop);
  let sequence = 0;
  const explain = (): string => JSON.stringify(logged.slice(-8), undefined, 1);
  return {
    folder,
    logged,
    topics,
    store,
    processor,
    registry,
    blocked,
    stop,
    explain,
    send: (messages, set = 'default') =>
      engines.send(
        Array.from({ length: messages }, () => `message ${sequence++}`),
        set,
      ),
    async ids(set = 'sluice_default') {
      const found: string[] = [];
      const open = (await store.indices.list(set)).filter((info) => info.open).map(({ name }) => name);
      await store.queries.scanIds(open, (ids) => void found.push(...ids));
      return found.sort();
    },
    async settled() {
      await until(async () => ((await processor.lag()) === 0 ? true : undefined), 15_000, explain);
    },
    async metric(name, indexSet) {
      await processor.collect();
      const metric = await registry.getSingleMetric(name)?.get();
      return metric?.values.find(({ labels }) => labels['index_set'] === indexSet)?.value ?? 0;
    },
  };
}

export const drained = (rig: ParkingRig, set = 'sluice_default'): Promise<true> =>
  until(
    async () =>
      (await rig.processor.parking.list()).find((one) => one.index_set === set)?.state === 'drained' ? true : undefined,
    15_000,
    rig.explain,
  );

export async function reconciles(
  t: { equal(found: unknown, wanted: unknown, message: string): boolean },
  rig: ParkingRig,
  sets: readonly string[],
): Promise<void> {
  for (const set of sets) {
    const count = (name: string): Promise<number> => rig.metric(`sluice_documents_${name}`, set);
    const parts = await Promise.all(
      [
        'stored_total',
        'already_stored_total',
        'dead_lettered_total',
        'parked_total',
        'retired_total',
        'abandoned_total',
        'in_flight',
      ].map(count),
    );
    t.equal(
      await count('routed_total'),
      parts.reduce((sum, part) => sum + part, 0),
      `${set}: the counts reconcile`,
    );
  }
}
