/**
 * The role output on embedded topics, without receivers and processors: messages are put into the topics of the outputs
 * directly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../program/settings.js';
import { Registry } from '../../../core/metrics.js';
import { createRun, idPrefix, mintId } from '../../../core/message-ids.js';
import { outputTransports } from '../../../program/output-transports.js';
import { Outputs } from '../../../pipeline/forwarding/outputs.js';
import { outputTopicSpec } from '../../../pipeline/forwarding/topics.js';
import type { OutputStatus } from '../../../pipeline/forwarding/contract.js';
import { createEmbeddedTopicLog } from '../../../topics/embedded.js';
import type { TopicLog } from '../../../topics/contract.js';
import { createDecoder } from '../../../gelf/decoder.js';
import type { RuleSet } from '../../../rules/contract.js';
import type { OwnListener } from '../../../sinks/outputs/registry.js';
import { captureLog } from '../../core/captured-log.js';
import { until } from '../../program.js';
import { createFeed } from '../../rules/feed.js';
import { compiled } from '../../rules/support.js';
import { metricValue } from '../../topics/embedded/folder.js';

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export type Settings = Readonly<Record<string, unknown>> & { readonly id: string };

export interface World {
  readonly topics: TopicLog;
  readonly registry: Registry;
  readonly logged: Record<string, unknown>[];
  outputs: Outputs;
  /** Other rule files, from now on. */
  change(outputs: readonly Settings[]): Promise<void>;
  /** Ends the role and starts it again on the same topics. */
  restart(): Promise<void>;
  append(output: string, values: readonly string[]): Promise<void>;
  status(output: string): Promise<OutputStatus>;
  sentAll(output: string, deadlineMs?: number): Promise<OutputStatus>;
  metric(name: string, output: string): Promise<number>;
}

interface WorldOptions {
  readonly listeners?: readonly OwnListener[];
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Instead of embedded topics. */
  readonly topics?: (registry: Registry) => TopicLog;
}

const base = {
  type: 'gelf',
  host: '127.0.0.1',
  port: 1,
  streams: ['all-messages'],
  confirm_after_ms: 100,
  retry_most_ms: 700,
};
export const numbered = (from: number, to: number, more = ''): string[] =>
  Array.from({ length: to - from }, (_, at) => `{"host":"h","short_message":"m","_n":${from + at}${more}}`);

/** Numbers of messages, in the order of their first arrival. */
export function firstNumbers(frames: readonly string[]): number[] {
  return [...new Set(frames.map((frame) => Number(/"?_?n"?[:=]"?(\d+)/.exec(frame)?.[1])))];
}

export const inOrder = (numbers: readonly number[], count: number): boolean =>
  numbers.length === count && numbers.every((number, at) => number === at);

export async function createWorld(t: Teardown, first: readonly Settings[], options: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-outputs-'));
  const { log, logged } = captureLog();
  const registry = new Registry();
  const { config } = loadConfig({ folder, environment: {}, overrides: { ...options.settings } });
  const topics =
    options.topics?.(registry) ??
    createEmbeddedTopicLog({ folder: join(folder, 'topics'), segmentBytes: 2 ** 20, reserveBytes: 0, log, registry });
  await topics.start();
  const rulesOf = (outputs: readonly Settings[]): RuleSet =>
    compiled({ outputs: outputs.map((output) => ({ ...base, ...output })) });
  let rules = rulesOf(first);
  const feed = createFeed(rules);
  const create = (): Outputs =>
    new Outputs({
      config,
      topics,
      decoder: createDecoder(),
      rules: feed,
      transportOf: outputTransports({
        listeners: () => options.listeners ?? [],
        files: { folder: config.rules.folder, environment: {} },
      }),
      timestampOf: (name) => config.receivers.find((receiver) => receiver.name === name)?.timestamp ?? 'sender',
      registry,
      log,
    });
  const prefix = idPrefix(createRun(Date.now()), 0);
  let sequence = 0;
  const world: World = {
    topics,
    registry,
    logged,
    outputs: create(),
    async change(outputs) {
      rules = rulesOf(outputs);
      feed.change(rules);
      await until(
        async () => {
          const status = await world.outputs.status();
          return status.filter(({ state }) => state !== 'paused').length ===
            (rules.outputs ?? []).filter(({ enabled }) => enabled).length
            ? true
            : undefined;
        },
        10_000,
        () => JSON.stringify(logged),
      );
    },
    async restart() {
      await world.outputs.stop(2_000);
      world.outputs = create();
      await world.outputs.start();
    },
    async append(output, values) {
      await topics.ensureTopics([
        outputTopicSpec(config, topics.capabilities(), {
          id: output,
          max_waiting_bytes: undefined,
          max_age_ms: undefined,
        }),
      ]);
      const records = values.map((value) => ({
        key: mintId(prefix, sequence++),
        value: Buffer.from(value),
        timestamp: Date.now(),
        origin: 'gelf-tcp 127.0.0.1:5',
      }));
      await topics.append(`${config.topics.prefix}output.${output}`, 0, records);
    },
    // An output whose settings change is away for a moment.
    status: (output) =>
      until(
        async () => (await world.outputs.status()).find(({ id }) => id === output),
        5_000,
        () => `no output ${output}`,
      ),
    sentAll: (output, deadlineMs = 60_000) =>
      until(
        async () => {
          const status = await world.status(output);
          return status.lag === 0 ? status : undefined;
        },
        deadlineMs,
        () => `not everything was sent: ${JSON.stringify(logged.slice(-5))}`,
      ),
    metric: (name, output) => metricValue(registry, `sluice_output_${name}`, { output }),
  };
  await world.outputs.start();
  t.teardown(async () => {
    await world.outputs.stop(1_000);
    await topics.stop(1_000);
    rmSync(folder, { recursive: true, force: true });
  });
  return world;
}
