/** The role output: a worker for each output of the rule files; a change of the files reaches only the outputs that it changes. */
import type { Config } from '../../schemas/config/config.js';
import type { ReceiverOptions } from '../../schemas/config/receivers.js';
import { buildMetrics, type Registry } from '../../core/metrics.js';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Decoder } from '../../gelf/contract.js';
import type { RuleSet, RuleSetFeed } from '../../rules/contract.js';
import type { OutputRecord } from '../../sinks/outputs/contract.js';
import { outputTransport, type OutputContext, type OwnListener } from '../../sinks/outputs/registry.js';
import type { LogDocument } from '../../schemas/messages.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import { parseOrigin } from '../origin.js';
import type { TopicLog, TopicSpec } from '../../topics/contract.js';
import type { Taps } from '../monitoring/taps.js';
import { maxAgeMs, maxWaitingBytes } from './limits.js';
import { outputMetrics } from './metrics.js';
import { createPausedOutput, type PausedOutput } from './paused.js';
import { outputGroup, outputTopic, outputTopicSpec } from './topics.js';
import { OutputWorker } from './worker.js';
import type { OutputStatus } from './contract.js';

interface OutputsOptions {
  readonly config: Config;
  readonly topics: TopicLog;
  readonly decoder: Decoder;
  readonly rules: RuleSetFeed;
  /** Receivers of this program, which an output must not point at. */
  readonly listeners: () => readonly OwnListener[];
  /** Of the settings and of the API; default: of the settings. */
  readonly receivers?: (() => readonly ReceiverOptions[]) | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Watchers of what is sent. */
  readonly taps?: Taps | undefined;
  readonly registry: Registry;
  readonly log: Log;
}

export interface Outputs {
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** Of those that are switched off too. */
  status(): Promise<readonly OutputStatus[]>;
  /** Brings the gauges up to date. */
  collect(): Promise<void>;
}

/** How long an output whose settings changed may take to end its connection in order. */
const replaceDeadlineMs = 5_000;

export function createOutputs(options: OutputsOptions): Outputs {
  const { config, topics, log, registry } = options;
  const metrics = buildMetrics(registry, outputMetrics);
  const workers = new Map<string, { readonly settings: string; readonly worker: OutputWorker }>();
  const paused = new Map<
    string,
    { readonly settings: string; readonly last: OutputStatus | undefined; readonly output: PausedOutput }
  >();
  let unwatch: () => void = () => undefined;
  let applying: Promise<void> = Promise.resolve();
  let stopped = false;

  const startOne = async (settings: OutputSettings): Promise<void> => {
    const spec: TopicSpec = outputTopicSpec(config, topics.capabilities(), settings);
    for (const warning of await topics.ensureTopics([spec])) log.warn(warning);
    const context = createContext(
      options,
      (kind, messages) => metrics.overLong.inc({ output: settings.id, kind }, messages),
      () => metrics.failed.inc({ output: settings.id }),
    );
    const transport = outputTransport(settings);
    const worker = new OutputWorker({
      settings,
      topics,
      topic: spec.name,
      group: outputGroup(config, settings.id),
      maxWaitingBytes: maxWaitingBytes(config, settings),
      maxAgeMs: maxAgeMs(config, settings),
      encoder: transport.encoder(settings, context),
      link: transport.link(settings, context),
      taps: options.taps,
      metrics,
      log,
    });
    workers.set(settings.id, { settings: JSON.stringify(settings), worker });
    await worker.start();
    log.info(
      {
        output: settings.id,
        type: settings.type,
        protocol: settings.protocol,
        host: settings.host,
        port: settings.port,
        streams: settings.streams,
      },
      'output started',
    );
  };

  const pauseOne = (settings: OutputSettings, last: OutputStatus | undefined): void => {
    const { id } = settings;
    const output = createPausedOutput({
      settings,
      topics,
      topic: outputTopic(config, settings.id),
      group: outputGroup(config, id),
      last,
      metrics,
    });
    paused.set(id, { settings: JSON.stringify(settings), last, output });
  };

  const apply = async (rules: RuleSet): Promise<void> => {
    const wanted = new Map(
      (rules.outputs ?? []).filter(({ enabled }) => enabled).map((settings) => [settings.id, settings]),
    );
    const switchedOff = new Map(
      (rules.outputs ?? []).filter(({ enabled }) => !enabled).map((settings) => [settings.id, settings]),
    );
    for (const id of paused.keys()) if (!switchedOff.has(id)) paused.delete(id);
    for (const [id, { settings, worker }] of workers) {
      const next = wanted.get(id);
      if (next !== undefined && JSON.stringify(next) === settings) continue;
      workers.delete(id);
      await worker.stop(replaceDeadlineMs);
      const off = switchedOff.get(id);
      if (off !== undefined) pauseOne(off, await worker.status().catch(() => undefined));
      log.info(
        { output: id },
        next === undefined
          ? 'output stopped: it is not in the rule files any more, or not enabled'
          : 'output stopped for its changed settings',
      );
    }
    for (const [id, settings] of switchedOff) {
      const known = paused.get(id);
      if (known?.settings !== JSON.stringify(settings)) pauseOne(settings, known?.last);
    }
    for (const [id, settings] of wanted) {
      if (stopped) return;
      if (!workers.has(id)) await startOne(settings);
    }
  };

  const all = (): readonly PausedOutput[] => [
    ...[...workers.values()].map(({ worker }) => worker),
    ...[...paused.values()].map(({ output }) => output),
  ];

  const take = async (rules: RuleSet): Promise<void> => {
    try {
      if (!stopped) await apply(rules);
    } catch (error) {
      log.error({ error: errorText(error) }, 'the outputs stay as they were');
    }
  };

  return {
    async start() {
      const rules = await options.rules.load();
      await apply(rules);
      unwatch = options.rules.subscribe(rules, (change) => {
        if ('ruleSet' in change) applying = applying.then(() => take(change.ruleSet));
      });
    },
    async stop(deadlineMs) {
      stopped = true;
      unwatch();
      await applying;
      await Promise.all([...workers.values()].map(({ worker }) => worker.stop(deadlineMs)));
    },
    status: () => Promise.all(all().map((output) => output.status())),
    async collect() {
      await Promise.all(
        all().map((output) =>
          output
            .collect()
            .catch((error: unknown) => log.debug({ error: errorText(error) }, 'an output could not be looked at')),
        ),
      );
    },
  };
}

function createContext(
  options: OutputsOptions,
  overLong: OutputContext['overLong'],
  undecodable: () => void,
): OutputContext {
  const { config, decoder, listeners, environment } = options;
  const receivers = options.receivers ?? (() => config.receivers);
  const timestampOf = (name: string): ReceiverOptions['timestamp'] =>
    receivers().find((receiver) => receiver.name === name)?.timestamp ?? 'sender';
  let originText = '';
  let origin = parseOrigin('');
  let timestamp = timestampOf('');
  const documentOf = (record: OutputRecord): LogDocument | undefined => {
    if (record.origin !== originText) {
      originText = record.origin;
      origin = parseOrigin(originText);
      timestamp = timestampOf(origin.receiver);
    }
    const parsed = decoder.parse(record.value);
    if ('error' in parsed) {
      undecodable();
      return undefined;
    }
    // Written out: a spread with fields behind it costs V8 about as much as all of toDocument.
    return decoder.toDocument(parsed, {
      receiver: origin.receiver,
      peer: origin.peer,
      receivedAt: record.timestamp,
      timestamp,
    });
  };
  return { documentOf, overLong, listeners, files: { folder: config.rules.folder, environment } };
}
