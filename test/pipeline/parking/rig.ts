/** The real processor over embedded engines, whose store can be made to refuse the writes of single indices. */
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
import type { TopicLog } from '../../../topics/contract.js';
import { createDecoder } from '../../../gelf/decoder.js';
import { compileRules } from '../../../rules/compile/compile.js';
import { createFeed } from '../../rules/feed.js';
import type { RuleSet } from '../../../rules/contract.js';
import type { IndexStore, StoreDocuments } from '../../../sinks/stores/contract.js';
import { createDuckStore } from '../../../sinks/stores/duckdb/store.js';
import { storeErrors } from '../../../sinks/stores/errors.js';
import { createLevelState } from '../../../state/leveldb.js';
import { withFaults } from '../../sinks/stores/support/with-faults.js';
import { until } from '../../program.js';

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

let starts = 0;

export async function startParkingRig(
  t: Teardown,
  folder: string,
  rules: RuleSet = parkingRules(),
  parkAfterMs = 300,
): Promise<ParkingRig> {
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
    overrides: {
      processing: {
        rotation_check_ms: never,
        retention_check_ms: 500,
        park_after_ms: parkAfterMs,
        wait_for_more_ms: 20,
      },
    },
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
    log,
    registry,
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
    decoder: createDecoder(),
    logsTopic: 'logs',
    deadLettersTopic: 'dead-letters',
    largestRecordBytes: 2 ** 20,
    largestMessage: () => 8 * 2 ** 20,
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
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      await processor.stop(5_000);
      for (const part of [...parts].reverse()) await part.stop(5_000);
    })();
    return stopping;
  };
  t.teardown(stop);
  const prefix = idPrefix(createRun(Date.now() + (starts += 1)), 0);
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
    async send(messages, set = 'default') {
      const records = Array.from({ length: messages }, () => {
        const value = Buffer.from(
          JSON.stringify({ version: '1.1', host: 'h', short_message: `message ${sequence}`, _set: set }),
        );
        return { key: mintId(prefix, sequence++), value, timestamp: Date.now(), origin: 'test 127.0.0.1:1' };
      });
      await topics.append('logs', 0, records);
      return records.map(({ key }) => key);
    },
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
