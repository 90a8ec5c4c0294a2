/** The role processor: from the topics through rules into index sets. */
import { errorText } from '../core/errors.js';
import type { RuleSet, RuleSetChange, RuleSetFeed } from '../rules/contract.js';
import type { DeadLetters } from '../pipeline/dead-letters/contract.js';
import type { IndexRequests, IndexSets } from '../sinks/index-sets/contract.js';
import type { Ledger } from '../pipeline/ledger/ledger.js';
import { abandonIndex } from '../pipeline/parking/abandon.js';
import type { Abandoned } from '../pipeline/parking/contract.js';
import { Parking } from '../pipeline/parking/parking.js';
import { retryWhileStarting } from '../core/retry.js';
import { createPartitions, type PartitionsOptions } from '../pipeline/consume/partitions.js';
import { createRuleSets } from '../pipeline/ledger/rule-sets.js';
import { createStoreWork, type StoreWorkOptions } from './store-work.js';
import type { Consumer } from '../topics/contract.js';
import { assertWritable } from './upgrade/indices.js';

interface ProcessorOptions extends StoreWorkOptions {
  readonly rules: RuleSetFeed;
  /** See PartitionsOptions; settings cannot reach it. */
  readonly checkResends?: PartitionsOptions['checkResends'];
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
  const { config, topics, store, log, registry } = options;
  const { processing } = config;
  let rules: RuleSet | undefined;
  const work = createStoreWork(options, (records) => ({
    sets: () => rules?.indexSets ?? [],
    follow: () => records.refresh(),
  }));
  const { ledger, epochs, indexSets, indexRequests, deadLetters, deliver, metrics, consumedTopics, stopping } = work;
  const { ruleSets } = deliver;
  let consumer: Consumer | undefined;
  let unwatch: (() => void)[] = [];

  const partitions = createPartitions({ ...deliver, checkResends: options.checkResends });
  const parking = new Parking({
    delivery: { ...deliver, ruleSets: createRuleSets(ledger, options.compile) },
    deadLetterDeduplicator: deliver.deadLetterDeduplicator,
    parkingTopics: deliver.parkingTopics,
    partitions,
    prefix: config.topics.prefix,
    group: processing.group,
    batches: { maxBatchBytes: processing.batch_bytes, maxBatchRecords: processing.batch_records },
    sweepMs: processing.retention_check_ms,
    registry,
  });

  const take = async (change: RuleSetChange): Promise<void> => {
    if ('refused' in change) return metrics.ruleSets.inc({ outcome: 'refused' });
    try {
      const loaded = change.ruleSet;
      if (loaded.version === rules?.version) return;
      ruleSets.add(loaded);
      await epochs.applyRules(loaded);
      rules = loaded;
      metrics.ruleSets.inc({ outcome: 'loaded' });
      log.info({ rule_set_version: loaded.version }, 'rules changed');
    } catch (error) {
      metrics.ruleSets.inc({ outcome: 'refused' });
      log.error(
        { error: errorText(error), rule_set_version: rules?.version },
        'the changed rules cannot take effect; the rules before stay in force',
      );
    }
  };
  let taking: Promise<void> = Promise.resolve();
  const takeNext = (change: RuleSetChange): Promise<void> => (taking = taking.then(() => take(change)));
  const lag = async (): Promise<number> => {
    const sums = await Promise.all(
      consumedTopics.map(async (topic) => {
        const [partitions, committed] = [
          await topics.partitions(topic),
          await topics.committed(processing.group, topic),
        ];
        return partitions.reduce(
          (sum, { partition, earliest, logEnd }) =>
            sum + Math.max(0, logEnd - Math.max(earliest, committed.get(partition) ?? 0)),
          0,
        );
      }),
    );
    return sums.reduce((sum, part) => sum + part, 0);
  };

  return {
    ledger,
    indexSets,
    indexRequests,
    parking,
    deadLetters,
    abandonIndex: (index) =>
      abandonIndex({ ledger, store, log, rotate: (indexSet) => indexSets.rotateNow(indexSet) }, index),
    rules: () => rules,
    async reloadRules() {
      const loaded = await options.rules.load().catch(() => undefined);
      await (loaded === undefined ? taking : takeNext({ ruleSet: loaded }));
    },
    partitions: () => consumer?.assigned() ?? [],
    lag,
    async start() {
      const loaded = await options.rules.load();
      rules = loaded;
      ruleSets.add(loaded);
      await retryWhileStarting(() => epochs.applyRules(loaded), {
        what: 'the first epoch cannot be appended yet',
        log,
        signal: stopping.signal,
      });
      await assertWritable(store, Object.values(ledger.latestEpoch()?.indices ?? {}));
      indexSets.start();
      unwatch.push(options.rules.subscribe(loaded, (change) => void takeNext(change)));
      unwatch.push(
        ledger.watchEpochs(
          () =>
            void ledger
              .refresh()
              .then(() => partitions.epochAppended())
              .catch((error: unknown) =>
                log.warn({ error: errorText(error) }, 'epochs could not be read; trying again'),
              ),
        ),
      );
      consumer = await topics.consume(
        {
          group: processing.group,
          topics: consumedTopics,
          maxBatchBytes: processing.batch_bytes,
          maxBatchRecords: processing.batch_records,
          concurrency: processing.concurrency,
          waitForMoreMs: processing.wait_for_more_ms,
        },
        partitions,
      );
      consumer.finished.catch(options.onFatal);
      parking.start();
    },
    async stop(deadlineMs) {
      unwatch.forEach((stop) => stop());
      unwatch = [];
      await taking;
      const abort = setTimeout(() => stopping.abort(), Math.max(0, deadlineMs - 1_000));
      await Promise.all([consumer?.stop(deadlineMs), parking.stop(deadlineMs)]);
      clearTimeout(abort);
      stopping.abort();
      await indexSets.stop();
    },
    async collect() {
      const oldest = partitions.oldestInDelivery();
      metrics.oldestUnprocessed.set(oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1000);
      parking.collect();
      metrics.epoch.set(ledger.latestEpoch()?.number ?? 0);
    },
  };
}
