/**
 * Receivers and processors as programs of their own on shared engines, with names unlike any other test's, removed with
 * the test.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import kafkajs, { type Admin } from 'kafkajs';
import { kafkaBrokers, openSearchNode } from '../engines.js';
import { writeRuleFile, type RuleChoice } from '../faults/world/rule-files.js';
import { startProgram, testFolder, until, type Program } from '../program.js';

export interface Cluster {
  readonly topicPrefix: string;
  readonly group: string;
  readonly folder: string;
  start(
    name: string,
    role: 'all' | 'receiver' | 'processor' | 'output' | 'api',
    settings?: Readonly<Record<string, unknown>>,
  ): Promise<Program>;
  /** Log end and committed offset of each partition of the topic logs. */
  offsets(): Promise<readonly { readonly partition: number; readonly end: number; readonly committed: number }[]>;
  /** Resolves when every partition has been processed further than at this call. */
  takenOver(deadlineMs: number): Promise<void>;
  lag(): Promise<number>;
  close(): Promise<void>;
}

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

interface ClusterOptions {
  readonly brokers?: readonly string[];
  readonly opensearch?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly kafka?: Readonly<Record<string, unknown>>;
  readonly topics?: Readonly<Record<string, unknown>>;
  readonly rules?: RuleChoice;
}

/** In tests that `skipWithoutKafka` and `skipWithoutOpenSearch` guard. */
export async function createCluster(t: Teardown, options: ClusterOptions = {}): Promise<Cluster> {
  const name = `roles-${Math.random().toString(36).slice(2, 10)}`;
  const brokers = options.brokers ?? kafkaBrokers()?.split(',') ?? [];
  const node = options.opensearch ?? openSearchNode() ?? '';
  const folder = testFolder(t);
  const topicPrefix = `${name}.`;
  const topic = `${topicPrefix}logs`;
  const stateIndex = `${name}-state`;
  const rules = join(folder, 'rules');
  writeRuleFile(rules, 0, options.rules ?? {});
  const kafka = new kafkajs.Kafka({
    clientId: 'roles-test',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 8, initialRetryTime: 100 },
  });
  const admin = kafka.admin();
  await admin.connect();
  const close = async (): Promise<void> => {
    await removeIndices(node, stateIndex);
    await removeTopics(admin, topicPrefix, name);
    await admin.disconnect();
  };
  t.teardown(() => close().catch(() => undefined));

  const offsets = async (): Promise<{ partition: number; end: number; committed: number }[]> => {
    const [ends, [answer]] = await Promise.all([
      admin.fetchTopicOffsets(topic),
      admin.fetchOffsets({ groupId: name, topics: [topic] }),
    ]);
    const committed = new Map((answer?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)]));
    return ends
      .map(({ partition, high }) => ({
        partition,
        end: Number(high),
        committed: Math.max(0, committed.get(partition) ?? 0),
      }))
      .sort((one, other) => one.partition - other.partition);
  };

  return {
    topicPrefix,
    group: name,
    folder,
    offsets,
    close,
    start(program, role, settings = {}) {
      const own = join(folder, program);
      mkdirSync(own, { recursive: true });
      return startProgram(t, {
        folder: own,
        role,
        settings: {
          rules: { folder: rules },
          receivers: role === 'processor' || role === 'api' ? [] : [{ type: 'gelf_tcp', host: '127.0.0.1', port: 0 }],
          topics: { kind: 'kafka', prefix: topicPrefix, kafka: { brokers, ...options.kafka }, ...options.topics },
          store: { kind: 'opensearch', opensearch: { nodes: [node], state_index: stateIndex } },
          processing: { group: name, rotation_check_ms: 1_000 },
          ...options.settings,
          ...settings,
        },
      });
    },
    async takenOver(deadlineMs) {
      const before = new Map((await offsets()).map(({ partition, committed }) => [partition, committed]));
      await until(
        async () =>
          (await offsets()).every(({ partition, committed }) => committed > (before.get(partition) ?? 0))
            ? true
            : undefined,
        deadlineMs,
        () => 'partitions were not taken over',
      );
    },
    lag: async () => (await offsets()).reduce((sum, { end, committed }) => sum + Math.max(0, end - committed), 0),
  };
}

async function removeTopics(admin: Admin, prefix: string, group: string): Promise<void> {
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  const groups = (await admin.listGroups()).groups
    .map(({ groupId }) => groupId)
    .filter((id) => id === group || id.startsWith(`${group}.`));
  if (groups.length > 0) await admin.deleteGroups(groups).catch(() => undefined);
}

/** The indices that this test's epochs name, and its state. */
async function removeIndices(node: string, stateIndex: string): Promise<void> {
  const answer = await fetch(`${node}/${stateIndex}/_search?size=1000`);
  if (answer.ok) {
    const { hits } = (await answer.json()) as {
      hits: { hits: { _id: string; _source: { key?: string; value: string } }[] };
    };
    const marks = hits.hits.flatMap(({ _id, _source }) =>
      (_source.key ?? _id).startsWith('indices/') ? [(_source.key ?? _id).slice('indices/'.length)] : [],
    );
    for (const index of marks) await fetch(`${node}/${index}`, { method: 'DELETE' });
  }
  await fetch(`${node}/${stateIndex}`, { method: 'DELETE' });
}
