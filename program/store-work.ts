/**
 * What works on index sets and dead letters by the durable records alone: in a processor, and in a process that serves
 * the API beside processors. Each step is decided by a compare-and-set, so that it makes no difference which process
 * does it; a close that comes too late is undone.
 */
import { buildMetrics, type BuiltMetrics, type Registry } from '../core/metrics.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Decoder } from '../gelf/contract.js';
import { createInflater } from '../receivers/inflate/inflater.js';
import type { RuleSet, RuleSource } from '../rules/contract.js';
import type { IndexSetDefinition } from '../schemas/index-sets.js';
import type { Config } from '../schemas/config/config.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import { createMappingCoercion, type MappingCoercion } from '../sinks/index-sets/mapping-coercion.js';
import type { IndexStore } from '../sinks/stores/contract.js';
import type { StateStore } from '../state/contract.js';
import { createDeadLetters } from '../pipeline/dead-letters/dead-letters.js';
import type { DeadLetters } from '../pipeline/dead-letters/contract.js';
import { createDeadLetterDeduplicator } from '../pipeline/dead-letters/deduplicator.js';
import { deadLetterMetrics } from '../pipeline/dead-letters/metrics.js';
import type { ConsumeContext } from '../pipeline/consume/context.js';
import { createEpochs, type Epochs } from '../pipeline/ledger/epochs.js';
import { createIndexRequests } from '../sinks/index-sets/index-requests.js';
import { createIndexSets } from '../sinks/index-sets/index-sets.js';
import type { IndexRequests, IndexSets } from '../sinks/index-sets/contract.js';
import { createPassage } from '../pipeline/ledger/passage.js';
import { createLedger, type Ledger } from '../pipeline/ledger/ledger.js';
import type { TimestampOf } from '../pipeline/origin.js';
import { pipelineMetrics } from '../pipeline/metrics.js';
import type { Forwarder } from '../pipeline/forwarding/forward.js';
import { createBlockedReport } from '../pipeline/parking/abandon.js';
import { createBlockages } from '../pipeline/write/blockages.js';
import { createParkingTopics, type ParkingTopics } from '../pipeline/parking/topics.js';
import { createRuleSets } from '../pipeline/ledger/rule-sets.js';
import { createSearchableProbe } from '../sinks/stores/searchable-probe.js';
import type { TopicLog } from '../topics/contract.js';
import type { Taps } from '../pipeline/monitoring/taps.js';
import { programEvents } from './events.js';

export interface StoreWorkOptions {
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
  /** Cap of all indices together; undefined: none. */
  readonly maxTotalBytes: number | undefined;
  readonly forwarder?: Forwarder | undefined;
  /** Of the settings and of the API; default: of the settings. */
  readonly receivers?: (() => readonly ReceiverOptions[]) | undefined;
  /** Bytes of the largest message that this receiver takes. */
  readonly largestMessage: (receiver: string) => number;
  /** Watchers of what is routed. */
  readonly taps?: Taps | undefined;
  readonly registry: Registry;
  readonly log: Log;
}

/** How this process knows which index sets there are. */
export interface KnownSets {
  readonly sets: () => readonly IndexSetDefinition[];
  /** Before what somebody asks for. */
  readonly follow: () => Promise<void>;
}

export interface StoreWork {
  readonly ledger: Ledger;
  readonly epochs: Epochs;
  readonly indexSets: IndexSets;
  readonly indexRequests: IndexRequests;
  readonly deadLetters: DeadLetters;
  readonly deliver: ConsumeContext;
  readonly metrics: BuiltMetrics<typeof pipelineMetrics>;
  readonly consumedTopics: readonly string[];
  /** Ends what waits. */
  readonly stopping: AbortController;
}

export function createStoreWork(options: StoreWorkOptions, known: (ledger: Ledger) => KnownSets): StoreWork {
  const { store, log, registry, logsTopic, deadLettersTopic, compile } = options;
  const ledger = createLedger(options.state);
  const parts: Parts = {
    ledger,
    epochs: createEpochs({ ledger, store, log, now: Date.now }),
    coercion: createMappingCoercion({ maxFields: options.config.store.max_fields }),
    parkingTopics: openParkingTopics(options, ledger),
    consumedTopics: [logsTopic, deadLettersTopic],
    metrics: buildMetrics(registry, pipelineMetrics),
    stopping: new AbortController(),
  };
  const { sets, follow } = known(ledger);
  const indexSets = openIndexSets(options, parts, sets);
  const deliver = deliveryContext(options, parts, indexSets);
  return {
    ...parts,
    indexSets,
    deliver,
    indexRequests: createIndexRequests({
      ledger,
      store,
      follow,
      rotate: (indexSet) => indexSets.rotateNow(indexSet),
      retireSoon: () =>
        void follow()
          .then(() => indexSets.checkRetention())
          .catch((error: unknown) => programEvents.retentionFailed(log, { error: errorText(error) })),
    }),
    deadLetters: createDeadLetters({
      deliver: { ...deliver, ruleSets: createRuleSets(ledger, compile) },
      registry,
      now: Date.now,
      messages: {
        topics: options.topics,
        decoder: options.decoder,
        inflater: createInflater(),
        maxInflatedBytes: (receiver) => options.largestMessage(receiver),
      },
    }),
  };
}

/** What the parts below share. */
interface Parts {
  readonly ledger: Ledger;
  readonly epochs: Epochs;
  readonly coercion: MappingCoercion;
  readonly parkingTopics: ParkingTopics;
  readonly consumedTopics: readonly string[];
  readonly metrics: BuiltMetrics<typeof pipelineMetrics>;
  readonly stopping: AbortController;
}

function openParkingTopics({ config, topics, largestRecordBytes }: StoreWorkOptions, ledger: Ledger): ParkingTopics {
  return createParkingTopics({
    topics,
    ledger,
    prefix: config.topics.prefix,
    group: config.processing.group,
    maxMessageBytes: largestRecordBytes,
    now: () => performance.now(),
  });
}

function openIndexSets(options: StoreWorkOptions, parts: Parts, sets: KnownSets['sets']): IndexSets {
  const { config, topics, store, registry, log, deadLettersTopic } = options;
  const { processing } = config;
  const { ledger, epochs, coercion, consumedTopics, parkingTopics } = parts;
  const parkedLeft = async (indexSet: string): Promise<boolean> => {
    const { drainedTo, logEnd } = await parkingTopics.progress(indexSet, 'now');
    return drainedTo < logEnd;
  };
  return createIndexSets({
    ledger,
    rotation: epochs,
    passage: createPassage({ ledger, topics, group: processing.group, consumedTopics, deadLettersTopic, parkedLeft }),
    store,
    sets,
    rotationCheckMs: processing.rotation_check_ms,
    retentionCheckMs: processing.retention_check_ms,
    maxTotalBytes: options.maxTotalBytes,
    forget: (index) => coercion.forget(index),
    registry,
    log,
    now: Date.now,
  });
}

function deliveryContext(options: StoreWorkOptions, parts: Parts, indexSets: IndexSets): ConsumeContext {
  const { config, topics, store, registry, log, deadLettersTopic, taps } = options;
  const { ledger, coercion, metrics, parkingTopics, stopping } = parts;
  return {
    store,
    topics,
    ledger,
    ruleSets: createRuleSets(ledger, options.compile),
    deadLettersTopic,
    log,
    metrics,
    parkingTopics,
    taps,
    signal: stopping.signal,
    blockages: createBlockages({
      parkAfterMs: config.processing.park_after_ms,
      now: () => performance.now(),
      onBlocked: createBlockedReport(registry, log),
    }),
    route: {
      decoder: options.decoder,
      coerce: (index, document) => coercion.coerce(index, document),
      timestampOf: timestampSettings(options),
      forwarder: options.forwarder,
    },
    prepareIndex: (index) => coercion.prepare(index, (name) => store.indices.fieldTypes(name)),
    repair: (index, document, reason) => coercion.repair(document, { reason }, index),
    searchable: createSearchableProbe(store, registry, log, stopping.signal),
    onIndexBytes: (indexSet, index, bytes) => indexSets.observe(indexSet, index, bytes),
    deadLetterDeduplicator: createDeadLetterDeduplicator(store, buildMetrics(registry, deadLetterMetrics)),
  };
}

/** The setting `timestamp` by receiver; those of the settings file come before those of the API. */
function timestampSettings({ config, receivers = () => [] }: StoreWorkOptions): TimestampOf {
  const byName = (all: readonly ReceiverOptions[], name: string): ReceiverOptions | undefined =>
    all.find((receiver) => receiver.name === name);
  return (name) => (byName(config.receivers, name) ?? byName(receivers(), name))?.timestamp ?? 'sender';
}
