/**
 * Receiver and processors on shared engines with two index sets of this test's own, and what is needed to judge them.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { loadConfig } from '../../../program/settings.js';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { unparkedRecord } from '../../../pipeline/parking/envelope.js';
import type { ParkedSet } from '../../../pipeline/parking/contract.js';
import { createTopicLog } from '../../../program/topic-log.js';
import type { ConsumedRecord } from '../../../topics/contract.js';
import { kafkaBrokers, openSearchNode } from '../../engines.js';
import type { Program } from '../../program.js';
import { createCluster, type Cluster } from '../cluster.js';

export interface ParkingWorld {
  readonly cluster: Cluster;
  /** Every message goes here. */
  readonly main: string;
  /** Each fourth message goes here too. */
  readonly side: string;
  /** Sends to OpenSearch itself. */
  openSearch(method: string, path: string, body?: unknown): Promise<unknown>;
  block(index: string, on: boolean): Promise<void>;
  parked(program: Program): Promise<ParkedSet | undefined>;
  documents(index: string): Promise<number>;
  reckon(program: Program): Promise<Reckoning>;
  /** Before the topic is drained: then its records are removed. */
  parkedOrder(program: Program): Promise<ParkedOrder>;
}

interface Reckoning {
  readonly accepted: number;
  readonly missing: number;
  readonly doubled: number;
  readonly sideMissing: number;
  readonly sideDoubled: number;
  readonly deadLetters: number;
}

interface ParkedOrder {
  /** Messages in the parking topic, repeated ones left out. */
  readonly parked: number;
  /** Those that stand behind a later one of their connection. */
  readonly outOfOrder: number;
}

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export const parkAfterMs = 2_000;

export async function createParkingWorld(t: Teardown): Promise<ParkingWorld> {
  const cluster = await createCluster(t, { settings: { processing: { group: '', rotation_check_ms: 1_000 } } });
  const id = randomBytes(4).toString('hex');
  const [main, side] = [`park_${id}_main`, `park_${id}_side`];
  mkdirSync(join(cluster.folder, 'rules'), { recursive: true });
  const limits =
    'rotation: { type: size, max_size: 10 GB }, retention: { type: none }, replicas: 0, refresh_interval_ms: 1000';
  writeFileSync(
    join(cluster.folder, 'rules', '50-parking.yaml'),
    `
index_sets:
  - { id: ${main}, title: Main, ${limits} }
  - { id: ${side}, title: Side, ${limits} }
streams:
  - { id: parking-main, title: Main, index_set: ${main}, remove_matches_from_default_stream: true, when: { field: load_sequence, exists: true } }
  - { id: parking-side, title: Side, index_set: ${side}, when: { field: load_side, exists: true } }
`,
  );
  t.teardown(() => removeGroups(cluster.group));
  const node = openSearchNode() ?? '';
  const openSearch = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${node}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  return {
    cluster,
    main,
    side,
    openSearch,
    async block(index, on) {
      await openSearch('PUT', `/${index}/_settings`, { 'index.blocks.write': on ? true : null });
    },
    async parked(program) {
      const { index_sets: sets } = (await program.control.request('GET', '/parking')) as {
        index_sets: readonly ParkedSet[];
      };
      return sets.find(({ index_set: set }) => set === main);
    },
    async documents(index) {
      await openSearch('POST', `/${index}/_refresh`);
      return ((await openSearch('GET', `/${index}/_count`)) as { count: number }).count;
    },
    reckon: (program) => reckon(program, cluster, main, side),
    parkedOrder: (program) => parkedOrder(program, `${cluster.topicPrefix}parking.${main}`),
  };
}

async function reckon(program: Program, cluster: Cluster, main: string, side: string): Promise<Reckoning> {
  const accepted = new Map<string, boolean>();
  await readTopic(
    program,
    `${cluster.topicPrefix}logs`,
    ({ key, value }) => void accepted.set(key, value.includes('_load_side')),
  );
  const scan = async (set: string): Promise<Map<string, number>> => {
    const counts = new Map<string, number>();
    await program.control.stream('/scan-ids', { index_sets: [set] }, (line) => {
      for (const key of (line as { ids: readonly string[] }).ids) counts.set(key, (counts.get(key) ?? 0) + 1);
    });
    return counts;
  };
  await program.control.request('POST', '/refresh', {});
  const inMain = await scan(main);
  const inSide = await scan(side);
  const inDeadLetters =
    [...accepted.keys()].length === 0 ? new Map<string, number>() : await scan('sluice_dead_letters');
  let deadLetters = 0;
  for (const key of inDeadLetters.keys()) {
    const [id, set] = key.split('@');
    if (set !== main || id === undefined || !accepted.has(id)) continue;
    deadLetters += 1;
    inMain.set(id, (inMain.get(id) ?? 0) + 1);
  }
  const wanted = [...accepted].filter(([, both]) => both).map(([key]) => key);
  return {
    accepted: accepted.size,
    deadLetters,
    missing: [...accepted.keys()].filter((key) => !inMain.has(key)).length,
    doubled: [...inMain.values()].filter((count) => count > 1).length,
    sideMissing: wanted.filter((key) => !inSide.has(key)).length,
    sideDoubled: [...inSide.values()].filter((count) => count > 1).length,
  };
}

async function parkedOrder(program: Program, topic: string): Promise<ParkedOrder> {
  const parked = new Set<string>();
  const lastOf = new Map<string, number>();
  let outOfOrder = 0;
  await readTopic(program, topic, (record) => {
    if (parked.has(record.key)) return;
    parked.add(record.key);
    const { _load_connection: connection, _load_sequence: sequence } = JSON.parse(
      unparkedRecord(record)?.record.value.toString() ?? '',
    ) as { _load_connection: string; _load_sequence: number };
    if (sequence <= (lastOf.get(connection) ?? 0)) outOfOrder += 1;
    lastOf.set(connection, sequence);
  });
  return { parked: parked.size, outOfOrder };
}

async function readTopic(program: Program, topic: string, onRecord: (record: ConsumedRecord) => void): Promise<void> {
  const { config } = loadConfig({ file: program.settingsFile, environment: {} });
  const log = createTopicLog(config, { registry: new Registry(), log: silentLog, readOnly: true });
  await log.start();
  try {
    for (const { partition, earliest } of await log.partitions(topic))
      await log.read(topic, partition, earliest, (records) => records.forEach(onRecord));
  } finally {
    await log.stop(5_000);
  }
}

async function removeGroups(group: string): Promise<void> {
  const admin = new kafkajs.Kafka({
    clientId: 'parking-test',
    brokers: kafkaBrokers()?.split(',') ?? [],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const { groups } = await admin.listGroups();
  await admin
    .deleteGroups(groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${group}.parking.`)))
    .catch(() => undefined);
  await admin.disconnect();
}
