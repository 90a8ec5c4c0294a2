/**
 * What works on index sets and dead letters by the durable records alone: in a processor, and in a process that serves the API beside
 * processors. Each step is decided by a compare-and-set, so that it makes no difference which process does it; a close that comes too late is undone.
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
import { createMappingCoercion } from '../sinks/index-sets/mapping-coercion.js';
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
import { pipelineMetrics } from '../pipeline/metrics.js';
import type { Forwarder } from '../pipeline/forwarding/forward.js';
import { createBlockedReport } from '../pipeline/parking/abandon.js';
import { createBlockages } from '../pipeline/write/blockages.js';
import { createParkingTopics } from '../pipeline/parking/topics.js';
import { createRuleSets } from '../pipeline/ledger/rule-sets.js';
import { createSearchableProbe } from '../sinks/stores/searchable-probe.js';
import type { TopicLog } from '../topics/contract.js';
import type { Taps } from '../pipeline/monitoring/taps.js';

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
  const { config, topics, store, log, registry, logsTopic, deadLettersTopic } = options;
  const { processing } = config;
  const metrics = buildMetrics(registry, pipelineMetrics);
  const ledger = createLedger(options.state);
  const ruleSets = createRuleSets(ledger, options.compile);
  const epochs = createEpochs({ ledger, store, log, now: Date.now });
  const coercion = createMappingCoercion({ maxFields: config.store.max_fields });
  const stopping = new AbortController();
  const receivers = options.receivers ?? (() => config.receivers);
  const receiverOf = (name: string): ReceiverOptions | undefined =>
    config.receivers.find((receiver) => receiver.name === name) ??
    receivers().find((receiver) => receiver.name === name);
  const consumedTopics = [logsTopic, deadLettersTopic];
  const { sets, follow } = known(ledger);

  const parkingTopics = createParkingTopics({
    topics,
    ledger,
    prefix: config.topics.prefix,
    group: processing.group,
    maxMessageBytes: options.largestRecordBytes,
    now: () => performance.now(),
  });
  const parkedLeft = async (indexSet: string): Promise<boolean> => {
    const { drainedTo, logEnd } = await parkingTopics.progress(indexSet, 'now');
    return drainedTo < logEnd;
  };
  const indexSets = createIndexSets({
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
  const blockages = createBlockages({
    parkAfterMs: processing.park_after_ms,
    now: () => performance.now(),
    onBlocked: createBlockedReport(registry, log),
  });
  const deliver: ConsumeContext = {
    store,
    topics,
    ledger,
    ruleSets,
    deadLettersTopic,
    log,
    metrics,
    blockages,
    parkingTopics,
    signal: stopping.signal,
    route: {
      decoder: options.decoder,
      coerce: (index, document) => coercion.coerce(index, document),
      timestampOf: (receiver) => receiverOf(receiver)?.timestamp ?? 'sender',
      forwarder: options.forwarder,
    },
    prepareIndex: (index) => coercion.prepare(index, (name) => store.indices.fieldTypes(name)),
    repair: (index, document, reason) => coercion.repair(document, { reason }, index),
    searchable: createSearchableProbe(store, registry, log, stopping.signal),
    taps: options.taps,
    onIndexBytes: (indexSet, index, bytes) => indexSets.observe(indexSet, index, bytes),
    deadLetterDeduplicator: createDeadLetterDeduplicator(store, buildMetrics(registry, deadLetterMetrics)),
  };
  return {
    ledger,
    epochs,
    indexSets,
    deliver,
    metrics,
    consumedTopics,
    stopping,
    indexRequests: createIndexRequests({
      ledger,
      store,
      follow,
      rotate: (indexSet) => indexSets.rotateNow(indexSet),
      retireSoon: () =>
        void follow()
          .then(() => indexSets.checkRetention())
          .catch((error: unknown) => log.warn({ error: errorText(error) }, 'retention failed; it is repeated')),
    }),
    deadLetters: createDeadLetters({
      deliver: { ...deliver, ruleSets: createRuleSets(ledger, options.compile) },
      registry,
      now: Date.now,
      messages: {
        topics,
        decoder: options.decoder,
        inflater: createInflater(),
        maxInflatedBytes: (receiver) => options.largestMessage(receiver),
      },
    }),
  };
}
