/** The role processor: from the topics through rules into index sets. */
import { errorText } from '../core/errors.js';
import type { RuleSet, RuleSetChange, RuleSetFeed } from '../rules/contract.js';
import type { DeadLetters } from '../pipeline/dead-letters/contract.js';
import type { IndexRequests, IndexSets } from '../sinks/index-sets/contract.js';
import type { Ledger } from '../pipeline/ledger/ledger.js';
import { abandonIndex } from '../pipeline/parking/abandon.js';
import type { Abandoned } from '../pipeline/parking/contract.js';
import { Parking } from '../pipeline/parking/parking.js';
import { retryWhileStarting } from '../core/retry/retry.js';
import { createPartitions, type Partitions, type PartitionsOptions } from '../pipeline/consume/partitions.js';
import { createRuleSets } from '../pipeline/ledger/rule-sets.js';
import { createStoreWork, type StoreWork, type StoreWorkOptions } from './store-work.js';
import type { Consumer } from '../topics/contract.js';
import { assertWritable } from './upgrade/indices.js';
import { programEvents } from './events.js';

interface ProcessorOptions extends StoreWorkOptions {
  readonly rules: RuleSetFeed;
  /** See PartitionsOptions; settings cannot reach it. */
  readonly checkResends?: PartitionsOptions['checkResends'];
  /** The processor cannot go on. */
  readonly onFatal: (error: unknown) => void;
}

export class Processor {
  readonly #options: ProcessorOptions;
  readonly #work: StoreWork;
  readonly #partitions: Partitions;
  readonly parking: Parking;
  #rules: RuleSet | undefined;
  /** Changes of the rules take effect one after the other. */
  #taking: Promise<void> = Promise.resolve();
  #consumer: Consumer | undefined;
  #unwatch: (() => void)[] = [];

  constructor(options: ProcessorOptions) {
    this.#options = options;
    this.#work = createStoreWork(options, (ledger) => ({
      sets: () => this.#rules?.indexSets ?? [],
      follow: () => ledger.refresh(),
    }));
    const { deliver, ledger } = this.#work;
    const { processing, topics } = options.config;
    this.#partitions = createPartitions({ ...deliver, checkResends: options.checkResends });
    this.parking = new Parking({
      delivery: { ...deliver, ruleSets: createRuleSets(ledger, options.compile) },
      deadLetterDeduplicator: deliver.deadLetterDeduplicator,
      parkingTopics: deliver.parkingTopics,
      partitions: this.#partitions,
      prefix: topics.prefix,
      group: processing.group,
      batches: { maxBatchBytes: processing.batch_bytes, maxBatchRecords: processing.batch_records },
      sweepMs: processing.retention_check_ms,
      registry: options.registry,
    });
  }

  get ledger(): Ledger {
    return this.#work.ledger;
  }

  get indexSets(): IndexSets {
    return this.#work.indexSets;
  }

  get indexRequests(): IndexRequests {
    return this.#work.indexRequests;
  }

  get deadLetters(): DeadLetters {
    return this.#work.deadLetters;
  }

  /** The rules in force. */
  rules(): RuleSet | undefined {
    return this.#rules;
  }

  /** What this processor has of the topics now, as `topic/partition`; empty while others have them all. */
  partitions(): readonly string[] {
    return this.#consumer?.assigned() ?? [];
  }

  /** Gives up an index that is missing or closed. */
  abandonIndex(index: string): Promise<Abandoned> {
    const { store, log } = this.#options;
    const { ledger, indexSets } = this.#work;
    return abandonIndex({ ledger, store, log, rotate: (indexSet) => indexSets.rotateNow(indexSet) }, index);
  }

  async start(): Promise<void> {
    const { rules, store, log, onFatal } = this.#options;
    const { deliver, epochs, ledger, indexSets, stopping } = this.#work;
    const loaded = await rules.load();
    this.#rules = loaded;
    deliver.ruleSets.add(loaded);
    await retryWhileStarting(() => epochs.applyRules(loaded), {
      what: 'the first epoch cannot be appended yet',
      log,
      signal: stopping.signal,
    });
    await assertWritable(store, Object.values(ledger.latestEpoch()?.indices ?? {}));
    indexSets.start();
    this.#unwatch.push(
      rules.subscribe(loaded, (change) => void this.#takeNext(change)),
      ledger.watchEpochs(() => void this.#followEpochs()),
    );
    this.#consumer = await this.#consume();
    this.#consumer.finished.catch(onFatal);
    this.parking.start();
  }

  async stop(deadlineMs: number): Promise<void> {
    const { stopping, indexSets } = this.#work;
    for (const unwatch of this.#unwatch.splice(0)) unwatch();
    await this.#taking;
    const abort = setTimeout(() => stopping.abort(), Math.max(0, deadlineMs - 1_000));
    await Promise.all([this.#consumer?.stop(deadlineMs), this.parking.stop(deadlineMs)]);
    clearTimeout(abort);
    stopping.abort();
    await indexSets.stop();
  }

  /** Resolves when the rules are in force that files and objects say now, or it is logged why they cannot be. */
  async reloadRules(): Promise<void> {
    const loaded = await this.#options.rules.load().catch(() => undefined);
    await (loaded === undefined ? this.#taking : this.#takeNext({ ruleSet: loaded }));
  }

  /** Messages accepted and not yet committed, over all topics. */
  async lag(): Promise<number> {
    const lags = await Promise.all(this.#work.consumedTopics.map((topic) => this.#lagOf(topic)));
    return lags.reduce((sum, part) => sum + part, 0);
  }

  /** Brings the gauges up to date. */
  async collect(): Promise<void> {
    const { metrics, ledger } = this.#work;
    const oldest = this.#partitions.oldestInDelivery();
    metrics.oldestUnprocessed.set(oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1000);
    this.parking.collect();
    metrics.epoch.set(ledger.latestEpoch()?.number ?? 0);
  }

  #consume(): Promise<Consumer> {
    const { topics, config } = this.#options;
    const { processing } = config;
    return topics.consume(
      {
        group: processing.group,
        topics: this.#work.consumedTopics,
        maxBatchBytes: processing.batch_bytes,
        maxBatchRecords: processing.batch_records,
        concurrency: processing.concurrency,
        waitForMoreMs: processing.wait_for_more_ms,
      },
      this.#partitions,
    );
  }

  async #lagOf(topic: string): Promise<number> {
    const { topics, config } = this.#options;
    const partitions = await topics.partitions(topic);
    const committed = await topics.committed(config.processing.group, topic);
    return partitions.reduce(
      (sum, { partition, earliest, logEnd }) =>
        sum + Math.max(0, logEnd - Math.max(earliest, committed.get(partition) ?? 0)),
      0,
    );
  }

  #takeNext(change: RuleSetChange): Promise<void> {
    this.#taking = this.#taking.then(() => this.#take(change));
    return this.#taking;
  }

  async #take(change: RuleSetChange): Promise<void> {
    const { log } = this.#options;
    const { metrics, deliver, epochs } = this.#work;
    if ('refused' in change) return metrics.ruleSets.inc({ outcome: 'refused' });
    const loaded = change.ruleSet;
    if (loaded.version === this.#rules?.version) return;
    try {
      deliver.ruleSets.add(loaded);
      await epochs.applyRules(loaded);
      this.#rules = loaded;
      metrics.ruleSets.inc({ outcome: 'loaded' });
      programEvents.rulesChanged(log, { rule_set_version: loaded.version });
    } catch (error) {
      metrics.ruleSets.inc({ outcome: 'refused' });
      programEvents.rulesRefused(log, { error: errorText(error), rule_set_version: this.#rules?.version });
    }
  }

  async #followEpochs(): Promise<void> {
    try {
      await this.#work.ledger.refresh();
      await this.#partitions.epochAppended();
    } catch (error) {
      programEvents.epochsUnread(this.#options.log, { error: errorText(error) });
    }
  }
}
