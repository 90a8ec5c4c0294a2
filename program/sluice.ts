/**
 * The whole program, built from its settings: engines, processor, receivers. Starts from the sinks to the receivers,
 * stops from the receivers to the sinks.
 */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../schemas/config/config.js';
import { buildMetrics, type Registry } from '../core/metrics.js';
import type { Log } from '../core/log.js';
import type { RecentProblems } from '../core/recent-problems.js';
import type { MessageSink } from '../schemas/messages.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { Receiver } from '../receivers/contract.js';
import { createDecoder } from '../gelf/decoder.js';
import { createInflater } from '../receivers/inflate/inflater.js';
import type { RuleSet } from '../rules/contract.js';
import type { OwnListener } from '../sinks/outputs/registry.js';
import type { IndexStore } from '../sinks/stores/contract.js';
import { createStore } from '../sinks/stores/registry.js';
import type { StateStore } from '../state/contract.js';
import { createState } from '../state/registry.js';
import type { QueryLanguage, Searcher } from '../search/contract.js';
import { createQueryLanguage } from '../search/language/language.js';
import { createSearcher } from '../search/searcher.js';
import { createRun } from '../core/message-ids.js';
import { pipelineErrors } from '../pipeline/errors.js';
import { registeredKinds, type Kinds } from './kinds.js';
import { createTopicLog, sharesTopics } from './topic-log.js';
import { createReceivers, type Receivers } from './receivers.js';
import { createRuntimeReceivers, type RuntimeReceivers } from './runtime-receivers.js';
import { createDefinitionStore, type DefinitionStore } from '../definitions/definition-store.js';
import { createForwarder } from '../pipeline/forwarding/forward.js';
import { createLimits } from '../pipeline/forwarding/limits.js';
import { outputMetrics } from '../pipeline/forwarding/metrics.js';
import { createOperations, type Operations } from './operations.js';
import { outputTransports } from './output-transports.js';
import { Outputs } from '../pipeline/forwarding/outputs.js';
import { outputTopicSpec } from '../pipeline/forwarding/topics.js';
import { retryWhileStarting } from '../core/retry/retry.js';
import { deadLetterSet } from '../schemas/index-sets.js';
import { Processor } from './processor.js';
import { TopicSink, type TopicSinkOptions } from '../pipeline/receive/topic-sink.js';
import type { TopicLog, TopicSpec } from '../topics/contract.js';
import { createView, type View } from '../pipeline/monitoring/view.js';
import { createWatchedSink } from '../pipeline/monitoring/watched-sink.js';
import { makeDataFolder, openDataFolder } from './upgrade/data-folder.js';
import { joinProtocol } from './upgrade/protocol.js';
import { programEvents } from './events.js';

export interface Roles {
  readonly receiver: boolean;
  readonly processor: boolean;
  readonly output?: boolean;
  /** Serves the API; of several workers, the first one does. It needs the store. */
  readonly api?: boolean;
}

/** The place of this process among the workers of one program. */
interface WorkerPlace {
  /** 1, 2, ... */
  readonly index: number;
  readonly count: number;
}

export interface SluiceOptions {
  readonly config: Config;
  /** Default: what the registries list. */
  readonly kinds?: Kinds | undefined;
  readonly roles: Roles;
  /** Undefined: this process is the whole program. */
  readonly worker?: WorkerPlace | undefined;
  readonly registry: Registry;
  readonly log: Log;
  /** What the log has warned of. */
  readonly problems?: RecentProblems | undefined;
  readonly onFatal: (error: unknown) => void;
}

/** 64 KiB of raw bytes, each escaped to six characters at the most, and what is said about them. */
const largestDeadLetterBytes = 512 * 1024;

/** Nothing ends by itself in this time: what is left is durable or will be delivered again. */
const stopShares = { receivers: 0.3, receive: 0.2, processor: 0.3, engines: 0.2 } as const;

export class Sluice {
  readonly #options: SluiceOptions;
  readonly #started: { stop(deadlineMs: number): Promise<void>; share: number }[] = [];
  readonly topics: TopicLog;
  readonly store: IndexStore | undefined;
  /** The door to what the store holds; undefined without a store. */
  readonly searcher: Searcher | undefined;
  readonly language: QueryLanguage;
  readonly inflaterName: string;
  /** What users create is kept here too. */
  readonly state: StateStore | undefined;
  readonly #receive: TopicSink | undefined;
  /** Those of the settings. */
  readonly #receivers: readonly Receiver[];
  /** What people make through the API, and the rules that come of it and the files. */
  readonly world: DefinitionStore;
  readonly #kinds: Kinds;
  readonly receiverKinds: Receivers;
  /** Receivers of the API; none without the role receiver. */
  readonly runtimeReceivers: RuntimeReceivers | undefined;
  readonly view: View;
  /** Where messages go in: what receivers are given, and where the API sends its audit records. */
  readonly sink: MessageSink | undefined;
  processor: Processor | undefined;
  #operationsWithoutProcessor: Operations | undefined;
  outputs: Outputs | undefined;
  warnings: readonly string[] = [];
  maxTotalBytes: number | undefined;
  #listening = false;
  #unwatchReceivers: () => void = () => undefined;
  readonly #ending = new AbortController();
  #stopping: Promise<void> | undefined;

  constructor(options: SluiceOptions) {
    this.#options = options;
    this.#kinds = options.kinds ?? registeredKinds;
    this.receiverKinds = createReceivers(this.#kinds.receivers);
    const { config, roles, registry, log } = options;
    if ((roles.receiver !== roles.processor || !roles.receiver) && !sharesTopics(config, this.#kinds.topicLogs))
      throw pipelineErrors.create('PIPELINE_ROLE_IMPOSSIBLE', { place: 'topics.kind', got: config.topics.kind });
    const inflater = createInflater();
    const checker = createDecoder();
    this.inflaterName = inflater.name;
    makeDataFolder(config.data_folder);
    this.topics = createTopicLog(config, { registry, log }, this.#kinds.topicLogs);
    if (roles.api === true && !roles.processor && config.store.kind === 'embedded')
      throw pipelineErrors.create('PIPELINE_ROLE_IMPOSSIBLE', { place: 'store.kind', got: 'embedded' });
    const stores = roles.processor || roles.api === true;
    this.store = stores ? createStore(config, { registry, log, onLost: options.onFatal }) : undefined;
    this.language = createQueryLanguage(config.search);
    this.searcher =
      this.store === undefined
        ? undefined
        : createSearcher({
            store: this.store,
            settings: searchSettings(config),
            registry,
            deadLetterSet,
            indexSets: () => (this.rules()?.indexSets ?? []).map(({ id }) => id),
            streams: () => (this.rules()?.streams ?? []).map(({ id }) => id),
          });
    this.state = stores ? createState(config, { log }) : undefined;
    this.#receive =
      roles.receiver || roles.api === true ? new TopicSink({ ...this.#receiveOptions(), registry, log }) : undefined;
    this.view = createView(registry, options.problems);
    const sink =
      this.#receive === undefined ? undefined : createWatchedSink(this.#receive, this.view.senders, this.view.taps);
    this.sink = sink;
    const sharesPorts = (options.worker?.count ?? 1) > 1;
    const runsHere = (receiver: ReceiverOptions): boolean =>
      options.worker === undefined || this.receiverKinds.runsInWorker(receiver, options.worker.index);
    const create =
      sink === undefined || !roles.receiver
        ? undefined
        : (receiver: ReceiverOptions) =>
            this.receiverKinds.create(receiver, { sink, log, registry, checker, inflater, sharesPorts });
    this.#receivers = create === undefined ? [] : config.receivers.filter(runsHere).map(create);
    this.world = this.#createWorld();
    this.runtimeReceivers =
      create === undefined
        ? undefined
        : createRuntimeReceivers({
            wanted: () => this.world.receivers(),
            create: (receiver) => (runsHere(receiver) ? create(receiver) : undefined),
            assertPortFree: (receiver) => this.world.assertPortFree(receiver),
            log,
            solved: (facts, message) => options.problems?.solved(facts, message),
          });
  }

  /** What takes messages in this process now. */
  get receivers(): readonly Receiver[] {
    return [...this.#receivers, ...(this.runtimeReceivers?.running() ?? [])];
  }

  /** A process without the store reads objects where a shared store has them. */
  #createWorld(): DefinitionStore {
    const { config, log } = this.#options;
    const own =
      this.state === undefined && config.store.kind === 'opensearch' ? createState(config, { log }) : undefined;
    return createDefinitionStore({
      config,
      settings: this.#kinds.settings,
      log,
      state: this.state ?? own,
      stateIs: this.state === undefined ? 'own' : 'shared',
      applied: async () => {
        await (this.processor?.reloadRules() ?? this.#loadRules());
        await this.runtimeReceivers?.apply();
      },
    });
  }

  #receiverOptions(): readonly ReceiverOptions[] {
    return [...this.#options.config.receivers, ...this.world.receivers().map(({ options }) => options)];
  }

  #receiveOptions(): Omit<TopicSinkOptions, 'registry' | 'log'> {
    const { topics } = this.#options.config;
    return {
      topics: this.topics,
      logsTopic: this.logsTopic,
      deadLettersTopic: this.deadLettersTopic,
      partitions: topics.partitions,
      run: createRun(Date.now()),
      batchBytes: topics.batch_bytes,
      lingerMs: topics.linger_ms,
      unansweredLingerMs: topics.unanswered_linger_ms,
      maxWaitingBytes: topics.max_waiting_bytes,
      maxMessageBytes: topics.max_message_bytes,
    };
  }

  get logsTopic(): string {
    return `${this.#options.config.topics.prefix}logs`;
  }

  get deadLettersTopic(): string {
    return `${this.#options.config.topics.prefix}dead-letters`;
  }

  async start(): Promise<void> {
    try {
      await openDataFolder(
        this.#options.config,
        !sharesTopics(this.#options.config, this.#kinds.topicLogs),
        this.#options.log,
      );
      if (this.state !== undefined) {
        await this.#begin(this.state, stopShares.engines);
        const state = this.state;
        await retryWhileStarting(() => joinProtocol(state, this.#options.log, this.#options.onFatal), {
          what: 'the state cannot be read yet',
          log: this.#options.log,
          signal: this.#ending.signal,
        });
      }
      await this.#begin(this.world, stopShares.engines);
      if (this.store !== undefined) await this.#begin(this.store, stopShares.engines);
      await this.#begin(this.topics, stopShares.engines);
      this.warnings = await this.topics.ensureTopics(this.#topicSpecs());
      for (const warning of this.warnings) programEvents.topicWarned(this.#options.log, warning);
      if (this.#options.roles.output === true) {
        this.outputs = this.#createOutputs();
        await this.#begin(this.outputs, stopShares.processor);
      }
      if (this.store !== undefined && this.state !== undefined && !this.#options.roles.processor) {
        await this.world.ruleSets.load();
        const operations = createOperations(this.#workOptions(this.store, this.state));
        this.#operationsWithoutProcessor = operations;
        this.#started.push({ stop: () => operations.stop(), share: stopShares.processor });
      }
      if (this.store !== undefined && this.state !== undefined && this.#options.roles.processor) {
        this.maxTotalBytes = await totalCap(this.#options.config, this.state);
        this.processor = new Processor({
          ...this.#workOptions(this.store, this.state),
          rules: this.world.ruleSets,
          onFatal: this.#options.onFatal,
        });
        await this.#begin(this.processor, stopShares.processor);
      }
      if (this.#receive !== undefined)
        this.#started.push({
          stop: (deadline) => this.#receive?.stop(deadline) ?? Promise.resolve(),
          share: stopShares.receive,
        });
      for (const receiver of this.#receivers) await this.#begin(receiver, stopShares.receivers);
      if (this.runtimeReceivers !== undefined)
        await this.#begin(
          { start: async () => undefined, stop: (deadline) => this.#stopRuntimeReceivers(deadline) },
          stopShares.receivers,
        );
      this.#listening = true;
    } catch (error) {
      await this.stop(5_000);
      throw error;
    }
  }

  async #begin(
    part: { start(): Promise<void>; stop(deadlineMs: number): Promise<void> },
    share: number,
  ): Promise<void> {
    if (this.#stopping !== undefined) throw pipelineErrors.create('PIPELINE_STOPPED');
    this.#started.push({ stop: (deadline) => part.stop(deadline), share });
    await part.start();
  }

  /**
   * After everything that the settings file lets listen, the API too: what people made through the API takes no port
   * from it.
   */
  async startRuntimeReceivers(): Promise<void> {
    const receivers = this.runtimeReceivers;
    if (receivers === undefined || this.#stopping !== undefined) return;
    this.#unwatchReceivers = this.world.onChange(() => void receivers.apply());
    await receivers.apply();
  }

  async #stopRuntimeReceivers(deadlineMs: number): Promise<void> {
    this.#unwatchReceivers();
    await this.runtimeReceivers?.stop(deadlineMs);
  }

  /** Safe twice. Receivers stop side by side, the rest one after the other. */
  stop(deadlineMs: number): Promise<void> {
    this.#ending.abort();
    this.#stopping ??= (async () => {
      const parts = [...this.#started].reverse();
      const receivers = parts.filter(({ share }) => share === stopShares.receivers);
      await Promise.allSettled(receivers.map((part) => part.stop(deadlineMs * part.share)));
      for (const part of parts.filter((candidate) => !receivers.includes(candidate))) {
        await part
          .stop(deadlineMs * part.share)
          .catch((error: unknown) => programEvents.partNotStopped(this.#options.log, { error: String(error) }));
      }
    })();
    return this.#stopping;
  }

  #topicSpecs(): TopicSpec[] {
    const { topics } = this.#options.config;
    const common = {
      retentionBytes: topics.retention_bytes,
      retentionMs: topics.retention_ms,
      maxMessageBytes: topics.max_message_bytes,
    };
    return [
      { name: this.logsTopic, partitions: topics.partitions, ...common },
      {
        name: this.deadLettersTopic,
        partitions: 1,
        ...common,
        maxMessageBytes: Math.max(topics.max_message_bytes, largestDeadLetterBytes),
      },
    ];
  }

  #workOptions(store: IndexStore, state: StateStore): Parameters<typeof createOperations>[0] {
    const { config, registry, log } = this.#options;
    return {
      taps: this.view.taps,
      config,
      topics: this.topics,
      store,
      state,
      decoder: createDecoder(),
      logsTopic: this.logsTopic,
      deadLettersTopic: this.deadLettersTopic,
      registry,
      log,
      largestRecordBytes: Math.max(config.topics.max_message_bytes, largestDeadLetterBytes),
      maxTotalBytes: this.maxTotalBytes,
      compile: (source) => this.world.compileEpoch(source),
      receivers: () => this.#receiverOptions(),
      largestMessage: (receiver) => this.receiverKinds.largestMessage(this.#receiverOptions(), receiver),
      forwarder: createForwarder({
        topics: this.topics,
        specOf: (output) => outputTopicSpec(config, this.topics.capabilities(), output),
        limits: createLimits(config, this.topics),
        metrics: buildMetrics(registry, outputMetrics),
        log,
      }),
    };
  }

  #createOutputs(): Outputs {
    const { config, registry, log } = this.#options;
    return new Outputs({
      config,
      topics: this.topics,
      decoder: createDecoder(),
      rules: this.world.ruleSets,
      transportOf: outputTransports({
        listeners: () => this.#listeners(),
        files: { folder: config.rules.folder, environment: this.world.environment() },
      }),
      timestampOf: (name) => this.#receiverOptions().find((receiver) => receiver.name === name)?.timestamp ?? 'sender',
      taps: this.view.taps,
      registry,
      log,
    });
  }

  /** Bound ones, and those that another process on this machine may have by the same settings. */
  #listeners(): readonly OwnListener[] {
    const configured = this.#receiverOptions();
    const boundPorts = new Map(this.receivers.map((receiver) => [receiver.name, receiver.address()]));
    return configured.flatMap(({ name, type, host, port }) => {
      const transport = this.receiverKinds.transportOf(type);
      const bound = boundPorts.get(name);
      return [
        ...(bound === undefined ? [] : [{ name, host: bound.host, port: bound.port, transport }]),
        { name, host, port, transport },
      ];
    });
  }

  /** What can be asked of index sets and dead letters; undefined without a store. */
  get operations(): Pick<Operations, 'indexRequests' | 'deadLetters'> | undefined {
    return this.processor ?? this.#operationsWithoutProcessor;
  }

  /**
   * The rules in force: of a processor, when its epochs have them. An API of its own has them from the same files and
   * definitions.
   */
  rules(): RuleSet | undefined {
    return this.processor === undefined ? this.world.ruleSets.current() : this.processor.rules();
  }

  /** Where they are used at all. What is refused is told by their owner. */
  async #loadRules(): Promise<void> {
    if (this.world.ruleSets.current() !== undefined) await this.world.ruleSets.load().catch(() => undefined);
  }

  async ready(): Promise<{ ok: boolean; checks: { name: string; ok: boolean; reason: string }[] }> {
    const checks = [{ name: 'append', ...this.topics.writable() }];
    if (!this.#listening) checks.unshift({ name: 'start', ok: false, reason: 'it is being started' });
    if (this.store !== undefined) checks.push({ name: 'write', ...(await this.store.health()) });
    return { ok: checks.every(({ ok }) => ok), checks };
  }
}

/**
 * The embedded store takes two at a time: the rest would wait there, where a cancel does not reach them and turns do
 * not count.
 */
function searchSettings({ search, store }: Config): Config['search'] {
  return store.kind === 'embedded' ? { ...search, concurrent: Math.min(search.concurrent, 2) } : search;
}

/** Embedded store: the setting, or half of the disk that was free at the first start. */
async function totalCap(config: Config, state: StateStore): Promise<number | undefined> {
  if (config.store.kind !== 'embedded') return undefined;
  if (config.store.embedded.max_total_bytes !== null) return config.store.embedded.max_total_bytes;
  const key = 'settings/total_cap_bytes';
  const kept = await state.get(key);
  if (typeof kept?.value === 'number') return kept.value;
  const { bavail, bsize } = await statfs(join(config.data_folder));
  const cap = Math.floor((bavail * bsize) / 2);
  await state.put(key, cap, undefined);
  return cap;
}
