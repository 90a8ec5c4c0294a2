/**
 * The role output: a worker for each output of the rules; a change of the rules reaches only the outputs that it
 * changes.
 */
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { buildMetrics, type BuiltMetrics, type Registry } from '../../core/metrics.js';
import type { Decoder } from '../../gelf/contract.js';
import type { RuleSet, RuleSetFeed } from '../../rules/contract.js';
import type { Config } from '../../schemas/config/config.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { EncodeContext, OutputSending } from '../../sinks/outputs/contract.js';
import type { TopicLog } from '../../topics/contract.js';
import type { Taps } from '../monitoring/taps.js';
import { DecodeContexts, type TimestampOf } from '../origin.js';
import type { OutputStatus } from './contract.js';
import { maxAgeMs, maxWaitingBytes } from './limits.js';
import { outputMetrics } from './metrics.js';
import { createPausedOutput, type PausedOutput } from './paused.js';
import { outputGroup, outputTopic, outputTopicSpec } from './topics.js';
import { OutputWorker } from './worker.js';
import { pipelineEvents } from '../events.js';

interface OutputsOptions {
  readonly config: Config;
  readonly topics: TopicLog;
  readonly decoder: Decoder;
  readonly rules: RuleSetFeed;
  /** What the output's kind says of encoding and sending. */
  readonly transportOf: (settings: OutputSettings, context: EncodeContext) => OutputSending;
  readonly timestampOf: TimestampOf;
  /** Watchers of what is sent. */
  readonly taps?: Taps | undefined;
  readonly registry: Registry;
  readonly log: Log;
}

/** How long an output whose settings changed may take to end its connection in order. */
const replaceDeadlineMs = 5_000;

interface Running {
  /** JSON text, to see whether they changed. */
  readonly settings: string;
  readonly worker: OutputWorker;
}

interface Paused {
  readonly settings: string;
  /** What it did last, in this process. */
  readonly last: OutputStatus | undefined;
  readonly output: PausedOutput;
}

export class Outputs {
  readonly #options: OutputsOptions;
  readonly #metrics: BuiltMetrics<typeof outputMetrics>;
  readonly #running = new Map<string, Running>();
  readonly #paused = new Map<string, Paused>();
  #unsubscribe: () => void = () => undefined;
  #applying: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: OutputsOptions) {
    this.#options = options;
    this.#metrics = buildMetrics(options.registry, outputMetrics);
  }

  async start(): Promise<void> {
    const rules = await this.#options.rules.load();
    await this.#apply(rules);
    this.#unsubscribe = this.#options.rules.subscribe(rules, (change) => {
      if ('ruleSet' in change) this.#applying = this.#applying.then(() => this.#take(change.ruleSet));
    });
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    await this.#applying;
    await Promise.all([...this.#running.values()].map(({ worker }) => worker.stop(deadlineMs)));
  }

  /** Of those that are switched off too. */
  status(): Promise<readonly OutputStatus[]> {
    return Promise.all(this.#all().map((output) => output.status()));
  }

  /** Brings the gauges up to date. */
  async collect(): Promise<void> {
    const { log } = this.#options;
    const failed = (error: unknown): void => pipelineEvents.outputNotCollected(log, { error: errorText(error) });
    await Promise.all(this.#all().map((output) => output.collect().catch(failed)));
  }

  #all(): readonly PausedOutput[] {
    const workers = [...this.#running.values()].map(({ worker }) => worker);
    return [...workers, ...[...this.#paused.values()].map(({ output }) => output)];
  }

  async #take(rules: RuleSet): Promise<void> {
    try {
      if (!this.#stopped) await this.#apply(rules);
    } catch (error) {
      pipelineEvents.outputsNotChanged(this.#options.log, { error: errorText(error) });
    }
  }

  async #apply(rules: RuleSet): Promise<void> {
    const byId = (enabled: boolean): ReadonlyMap<string, OutputSettings> =>
      new Map((rules.outputs ?? []).filter((one) => one.enabled === enabled).map((one) => [one.id, one]));
    const wanted = byId(true);
    const switchedOff = byId(false);
    for (const id of this.#paused.keys()) if (!switchedOff.has(id)) this.#paused.delete(id);
    await this.#stopChanged(wanted, switchedOff);
    for (const [id, settings] of switchedOff) {
      const known = this.#paused.get(id);
      if (known?.settings !== JSON.stringify(settings)) this.#pause(settings, known?.last);
    }
    for (const [id, settings] of wanted) {
      if (this.#stopped) return;
      if (!this.#running.has(id)) await this.#startOne(settings);
    }
  }

  async #stopChanged(
    wanted: ReadonlyMap<string, OutputSettings>,
    switchedOff: ReadonlyMap<string, OutputSettings>,
  ): Promise<void> {
    for (const [id, { settings, worker }] of this.#running) {
      const next = wanted.get(id);
      if (next !== undefined && JSON.stringify(next) === settings) continue;
      this.#running.delete(id);
      await worker.stop(replaceDeadlineMs);
      const off = switchedOff.get(id);
      if (off !== undefined) this.#pause(off, await worker.status().catch(() => undefined));
      pipelineEvents.outputRemoved(
        this.#options.log,
        { output: id },
        next === undefined
          ? 'output stopped: it is not in the rule files any more, or not enabled'
          : 'output stopped for its changed settings',
      );
    }
  }

  async #startOne(settings: OutputSettings): Promise<void> {
    const { config, topics, taps, log } = this.#options;
    const { id, type, protocol, host, port, streams } = settings;
    const spec = outputTopicSpec(config, topics.capabilities(), settings);
    for (const warning of await topics.ensureTopics([spec])) pipelineEvents.outputTopicWarned(log, warning);
    const worker = new OutputWorker({
      ...this.#options.transportOf(settings, this.#encodeContext(id)),
      settings,
      topics,
      topic: spec.name,
      group: outputGroup(config, id),
      maxWaitingBytes: maxWaitingBytes(config, settings),
      maxAgeMs: maxAgeMs(config, settings),
      taps,
      metrics: this.#metrics,
      log,
    });
    this.#running.set(id, { settings: JSON.stringify(settings), worker });
    await worker.start();
    pipelineEvents.outputStarted(log, { output: id, type, protocol, host, port, streams });
  }

  #pause(settings: OutputSettings, last: OutputStatus | undefined): void {
    const { config, topics } = this.#options;
    const { id } = settings;
    const topic = outputTopic(config, id);
    const group = outputGroup(config, id);
    const output = createPausedOutput({ settings, topics, topic, group, last, metrics: this.#metrics });
    this.#paused.set(id, { settings: JSON.stringify(settings), last, output });
  }

  #encodeContext(output: string): EncodeContext {
    const { decoder, timestampOf } = this.#options;
    const decodeContexts = new DecodeContexts(timestampOf);
    return {
      documentOf: (record) => {
        const parsed = decoder.parse(record.value);
        if (!('error' in parsed)) return decoder.toDocument(parsed, decodeContexts.of(record));
        this.#metrics.failed.inc({ output });
        return undefined;
      },
      overLong: (kind, messages) => this.#metrics.overLong.inc({ output, kind }, messages),
    };
  }
}
