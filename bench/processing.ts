/**
 * A topic that is filled before, and a processor that works it off into a store that only counts: CPU of the program's
 * own work, engines left out.
 */
import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import { Value } from 'typebox/value';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import { createGenerator } from '../load/generator.js';
import { createRun } from '../core/message-ids.js';
import type { checkResends } from '../pipeline/delivery/sequences.js';
import { Processor } from '../program/processor.js';
import { TopicSink } from '../pipeline/receive/topic-sink.js';
import type { TopicLog, TopicSpec } from '../topics/contract.js';
import { createTopicLog } from '../program/topic-log.js';
import { createDecoder } from '../gelf/decoder.js';
import { compileRules } from '../rules/compile/compile.js';
import { readRuleSource } from '../rules/loading/source.js';
import { registeredKinds } from '../program/kinds.js';
import type { RuleSet, RuleSource } from '../rules/contract.js';
import { configSchemaOf, type Config } from '../schemas/config/config.js';
import type { StateStore } from '../state/contract.js';
import { createNullStore } from './null-store.js';

const partitions = 4;
const messageBytes = 420;
const batchMessages = 500;
const mebibyte = 2 ** 20;

const logsOf = (config: Config): string => `${config.topics.prefix}logs`;
const deadLettersOf = (config: Config): string => `${config.topics.prefix}dead-letters`;

/** Default settings, with topics of their own. */
export function benchConfig(settings: Readonly<Record<string, unknown>>): Config {
  return Value.Default(configSchemaOf(registeredKinds), settings) as Config;
}

export function kafkaConfig(brokers: string, name = `bench-${randomBytes(4).toString('hex')}`): Config {
  return benchConfig({
    topics: { kind: 'kafka', prefix: `${name}.`, kafka: { brokers: brokers.split(',') } },
    processing: { group: name },
  });
}

export function openTopics(config: Config): TopicLog {
  return createTopicLog(config, { registry: new Registry(), log: silentLog });
}

const specs = (config: Config): TopicSpec[] =>
  [[logsOf(config), partitions] as const, [deadLettersOf(config), 1] as const].map(([name, count]) => ({
    name,
    partitions: count,
    retentionBytes: 8 * 2 ** 30,
    retentionMs: 3_600_000,
    maxMessageBytes: mebibyte,
  }));

/** Messages as a cluster sends them, over all partitions, with ids as receivers mint them. */
export async function fill(topics: TopicLog, config: Config, messages: number): Promise<void> {
  await topics.ensureTopics(specs(config));
  const receive = new TopicSink({
    topics,
    logsTopic: logsOf(config),
    deadLettersTopic: deadLettersOf(config),
    partitions,
    run: createRun(Date.now()),
    batchBytes: mebibyte,
    lingerMs: 1,
    unansweredLingerMs: 1,
    maxWaitingBytes: 64 * mebibyte,
    maxMessageBytes: mebibyte,
    registry: new Registry(),
    log: silentLog,
  });
  const generator = createGenerator({ seed: 7, run: '0000abcd', bytes: messageBytes });
  const under: Promise<void>[] = [];
  for (let sent = 0; sent < messages; ) {
    const target = Buffer.allocUnsafe(generator.largestBytes * batchMessages);
    const values: Buffer[] = [];
    for (let end = 0; values.length < batchMessages && sent < messages; sent += 1) {
      const from = end;
      end = generator.write(target, from, { connection: sent % 8, sent }, Date.now());
      values.push(target.subarray(from, end));
    }
    under.push(
      receive.push({
        receiver: 'gelf-tcp',
        lane: under.length,
        receivedAt: Date.now(),
        values,
        peers: '127.0.0.1:40000',
        bytes: values.reduce((sum, value) => sum + value.length, 0),
      }),
    );
    if (receive.full()) await Promise.all(under);
  }
  await Promise.all(under);
  await receive.stop(10_000);
}

interface ProcessingOptions {
  readonly config: Config;
  readonly topics: TopicLog;
  readonly state: StateStore;
  readonly group: string;
  readonly checkResends?: typeof checkResends;
  readonly onStored?: (documents: number) => void;
}

interface Processing {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when this process has stored so many. */
  reached(documents: number): Promise<void>;
}

const compile = (source: RuleSource): RuleSet => {
  const compiled = compileRules(source);
  if ('problems' in compiled) throw new Error('the rules that ship cannot be compiled');
  return compiled.ruleSet;
};

export function createProcessing({
  config,
  topics,
  state,
  group,
  checkResends: check,
  onStored,
}: ProcessingOptions): Processing {
  const store = createNullStore(({ ids }) => onStored?.(ids.length));
  const processor = new Processor({
    config: { ...config, processing: { ...config.processing, group } },
    topics,
    store,
    state,
    decoder: createDecoder(),
    logsTopic: logsOf(config),
    deadLettersTopic: deadLettersOf(config),
    largestRecordBytes: mebibyte,
    largestMessage: () => 8 * 2 ** 20,
    compile,
    rules: { load: async () => compile(await readRuleSource('/nonexistent')), subscribe: () => () => undefined },
    maxTotalBytes: undefined,
    registry: new Registry(),
    log: silentLog,
    onFatal: (error) => {
      throw error instanceof Error ? error : new Error(String(error));
    },
    ...(check === undefined ? {} : { checkResends: check }),
  });
  return {
    start: () => processor.start(),
    stop: () => processor.stop(5_000),
    reached: (documents) => store.reached(documents),
  };
}

export function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function brokersOf({ topics }: Config): string[] {
  const { kafka } = topics as unknown as { readonly kafka: { readonly brokers: readonly string[] } };
  return [...kafka.brokers];
}

/** Removes the topics and groups of a bench. */
export async function removeTopics(config: Config, groups: readonly string[]): Promise<void> {
  const admin = new kafkajs.Kafka({
    brokers: brokersOf(config),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const names = (await admin.listTopics()).filter((name) => name.startsWith(config.topics.prefix));
  await admin.deleteTopics({ topics: names });
  await admin.deleteGroups([...groups]).catch(() => undefined);
  await admin.disconnect();
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
