/** The role processor: from the topics through rules into index sets. */
import type { Config } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import { buildMetrics, type Registry } from '../core/metrics.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Decoder } from '../receivers/decode/contract.js';
import { createInflater } from '../receivers/inflate/inflater.js';
import type { RuleSet, RuleSource } from '../rules/contract.js';
import type { IndexStore } from '../sinks/stores/contract.js';
import { createFitter } from '../sinks/index-sets/fit.js';
import type { StateStore } from '../state/contract.js';
import { createDeadLetters, type DeadLetters } from './dead-letters/dead-letters.js';
import { createKnownLetters } from './dead-letters/known.js';
import { deadLetterMetrics } from './dead-letters/metrics.js';
import type { DeliverContext } from './deliver-context.js';
import { createEpochs } from './epochs.js';
import { createIndexSets, type IndexSets } from './index-sets.js';
import { createIndexRequests, type IndexRequests } from './index-requests.js';
import { createLedger, type Ledger } from './ledger.js';
import type { Forwarder } from './outputs/forward.js';
import { pipelineMetrics } from './metrics.js';
import { abandonIndex, createBlockedReport, type Abandoned } from './parking/abandon.js';
import { createBlockages } from './parking/blockages.js';
import { createParking, type Parking } from './parking/parking.js';
import { createParkingTopics } from './parking/topics.js';
import { patiently } from './patience.js';
import { createProcess, type ProcessOptions } from './process.js';
import { createRuleSets } from './rule-sets.js';
import { createSearchableProbe } from './searchable.js';
import type { Consumer, TopicLog } from './topics/contract.js';
import type { Taps } from './view/taps.js';
import { assertWritable } from './upgrade/indices.js';

export interface ProcessorOptions {
  readonly config: Config;
  readonly topics: TopicLog;
  readonly store: IndexStore;
  readonly state: StateStore;
  readonly decoder: Decoder;
  readonly logsTopic: string;
  readonly deadLettersTopic: string;
  /** Of the topics above. */
  readonly largestRecordBytes: number;
  readonly compile: (source: RuleSource) => RuleSet;
  /** The rules as the files say now; throws typed errors. */
  readonly loadRules: () => Promise<RuleSet>;
  readonly watchRules: ((onChange: () => void) => () => void) | undefined;
  /** Cap of all indices together; undefined: none. */
  readonly maxTotalBytes: number | undefined;
  readonly forwarder?: Forwarder | undefined;
  /** Of the settings and of the API; default: of the settings. */
  readonly receivers?: (() => readonly ReceiverOptions[]) | undefined;
  /** Watchers of what is routed. */
  readonly taps?: Taps | undefined;
  /** See ProcessOptions; settings cannot reach it. */
  readonly checkResends?: ProcessOptions['checkResends'];
  readonly registry: Registry;
  readonly log: Log;
  /** The processor cannot go on. */
  readonly onFatal: (error: unknown) => void;
}

export interface Processor {
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  readonly ledger: Ledger;
  readonly indexSets: IndexSets;
  readonly indexRequests: IndexRequests;
  readonly parking: Parking;
  readonly deadLetters: DeadLetters;
  /** Gives up an index that is missing or closed. */
  abandonIndex(index: string): Promise<Abandoned>;
  rules(): RuleSet | undefined;
  /** Resolves when the rules are in force that files and objects say now, or it is logged why they cannot be. */
  reloadRules(): Promise<void>;
  /** What this processor has of the topics now, as `topic/partition`; empty while others have them all. */
  partitions(): readonly string[];
  /** Messages accepted and not yet committed, over both topics. */
  lag(): Promise<number>;
  /** Brings the gauges up to date. */
  collect(): Promise<void>;
}

export function createProcessor(options: ProcessorOptions): Processor {
  const { config, topics, store, log, registry, logsTopic, deadLettersTopic } = options;
  const { processing } = config;
  const metrics = buildMetrics(registry, pipelineMetrics);
  const ledger = createLedger(options.state);
  const ruleSets = createRuleSets(ledger, options.compile);
  const epochs = createEpochs({ ledger, store, log, now: Date.now });
  const fitter = createFitter({ maxFields: config.store.max_fields });
  const stopping = new AbortController();
  const receivers = options.receivers ?? (() => config.receivers);
  const receiverOf = (name: string): ReceiverOptions | undefined => config.receivers.find((receiver) => receiver.name === name) ?? receivers().find((receiver) => receiver.name === name);
  const consumedTopics = [logsTopic, deadLettersTopic];
  let rules: RuleSet | undefined;
  let consumer: Consumer | undefined;
  let unwatch: (() => void)[] = [];

  const parkingTopics = createParkingTopics({ topics, ledger, prefix: config.topics.prefix, group: processing.group, maxMessageBytes: options.largestRecordBytes, now: () => performance.now() });
  const parkedLeft = async (indexSet: string): Promise<boolean> => {
    const { drainedTo, logEnd } = await parkingTopics.progress(indexSet, 'now');
    return drainedTo < logEnd;
  };
  const indexSets = createIndexSets({
    ledger, epochs, store, topics, group: processing.group, consumedTopics, deadLettersTopic, sets: () => rules?.indexSets ?? [], rotationCheckMs: processing.rotation_check_ms,
    retentionCheckMs: processing.retention_check_ms, maxTotalBytes: options.maxTotalBytes, parkedLeft, forget: (index) => fitter.forget(index), registry, log, now: Date.now,
  });
  const blockages = createBlockages({ parkAfterMs: processing.park_after_ms, now: () => performance.now(), onBlocked: createBlockedReport(registry, log) });
  const deliver: DeliverContext = {
    store, topics, ledger, ruleSets, logsTopic, deadLettersTopic, log, metrics, blockages, parkingTopics, signal: stopping.signal,
    route: { decoder: options.decoder, fit: (index, document) => fitter.fit(index, document), timestampOf: (receiver) => receiverOf(receiver)?.timestamp ?? 'sender', forwarder: options.forwarder },
    prepareIndex: (index) => fitter.prepare(index, (name) => store.fieldTypes(name)),
    repair: (index, document, reason) => fitter.repair(document, { reason }, index),
    searchable: createSearchableProbe(store, registry, log, stopping.signal), taps: options.taps,
    onIndexBytes: (indexSet, index, bytes) => indexSets.observe(indexSet, index, bytes),
    knownLetters: createKnownLetters(store, buildMetrics(registry, deadLetterMetrics)),
  };
  const process = createProcess({ ...deliver, registry, checkResends: options.checkResends });
  const parking = createParking({
    deliver: { ...deliver, ruleSets: createRuleSets(ledger, options.compile) }, parkingTopics, blockages, prefix: config.topics.prefix, group: processing.group,
    batches: { maxBatchBytes: processing.batch_bytes, maxBatchRecords: processing.batch_records }, sweepMs: processing.retention_check_ms, registry,
  });

  const deadLetters = createDeadLetters({
    deliver: { ...deliver, ruleSets: createRuleSets(ledger, options.compile) }, registry, now: Date.now,
    messages: { topics, decoder: options.decoder, inflater: createInflater(), maxInflatedBytes: (receiver) => inflatedBytes(receivers(), receiver) },
  });

  const reload = async (): Promise<void> => {
    try {
      const loaded = await options.loadRules();
      if (loaded.version === rules?.version) return;
      ruleSets.add(loaded);
      await epochs.applyRules(loaded);
      rules = loaded;
      metrics.ruleSets.inc({ outcome: 'loaded' });
      log.info({ rule_set_version: loaded.version }, 'rules changed');
    } catch (error) {
      metrics.ruleSets.inc({ outcome: 'refused' });
      log.error({ error: errorText(error), rule_set_version: rules?.version }, 'the changed rule files cannot be used; the rules before stay in force');
    }
  };
  let reloading: Promise<void> = Promise.resolve();
  const lag = async (): Promise<number> => {
    const sums = await Promise.all(consumedTopics.map(async (topic) => {
      const [partitions, committed] = [await topics.partitions(topic), await topics.committed(processing.group, topic)];
      return partitions.reduce((sum, { partition, earliest, logEnd }) => sum + Math.max(0, logEnd - Math.max(earliest, committed.get(partition) ?? 0)), 0);
    }));
    return sums.reduce((sum, part) => sum + part, 0);
  };

  return {
    ledger,
    indexSets,
    indexRequests: createIndexRequests({ ledger, store, retireSoon: () => void indexSets.checkRetention().catch((error: unknown) => log.warn({ error: errorText(error) }, 'retention failed; it is repeated')) }),
    parking,
    deadLetters,
    abandonIndex: (index) => abandonIndex({ ledger, store, log, rotate: (indexSet) => indexSets.rotateNow(indexSet) }, index),
    rules: () => rules,
    reloadRules: () => reloading = reloading.then(reload),
    partitions: () => consumer?.assigned() ?? [],
    lag,
    async start() {
      rules = await options.loadRules();
      ruleSets.add(rules);
      const loaded = rules;
      await patiently('the first epoch cannot be appended yet', log, stopping.signal, () => epochs.applyRules(loaded));
      await assertWritable(store, Object.values(ledger.latestEpoch()?.indices ?? {}));
      indexSets.start();
      if (options.watchRules !== undefined) unwatch.push(options.watchRules(() => { reloading = reloading.then(reload); }));
      unwatch.push(ledger.watchEpochs(() => void ledger.refresh().then(() => process.epochAppended()).catch((error: unknown) => log.warn({ error: errorText(error) }, 'epochs could not be read; trying again'))));
      consumer = await topics.consume({
        group: processing.group, topics: consumedTopics, maxBatchBytes: processing.batch_bytes, maxBatchRecords: processing.batch_records,
        concurrency: processing.concurrency, waitForMoreMs: processing.wait_for_more_ms,
      }, process);
      consumer.finished.catch(options.onFatal);
      parking.start(() => process.parkedSets(), () => process.checkDrained());
    },
    async stop(deadlineMs) {
      unwatch.forEach((stop) => stop());
      unwatch = [];
      await reloading;
      const abort = setTimeout(() => stopping.abort(), Math.max(0, deadlineMs - 1_000));
      await Promise.all([consumer?.stop(deadlineMs), parking.stop(deadlineMs)]);
      clearTimeout(abort);
      stopping.abort();
      await indexSets.stop();
    },
    async collect() {
      const oldest = process.oldestInDelivery();
      metrics.oldestUnprocessed.set(oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1000);
      parking.collect();
      metrics.epoch.set(ledger.latestEpoch()?.number ?? 0);
    },
  };
}

/** What its receiver takes today; the most that any does, when there is no such receiver any more. */
function inflatedBytes(receivers: readonly ReceiverOptions[], name: string): number {
  const limits = receivers.map((receiver) => ({ name: receiver.name, bytes: receiver.type === 'gelf_http' ? receiver.max_body_bytes : receiver.max_inflated_bytes }));
  return limits.find((receiver) => receiver.name === name)?.bytes ?? Math.max(defaultInflatedBytes, ...limits.map(({ bytes }) => bytes));
}

const defaultInflatedBytes = 8 * 2 ** 20;
