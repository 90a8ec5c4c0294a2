/** The drains of this process: one consumer for each index set whose parking topic holds messages. */
import { errorText } from '../../core/errors.js';
import type { Consumer, ConsumeOptions } from '../../topics/contract.js';
import { createDrain, type DrainContext } from './drain.js';
import { drainGroup, parkingTopic } from './envelope.js';
import type { ParkingTopics } from './topics.js';
import { pipelineEvents } from '../events.js';

/** A drain without work goes on for this long: the set may be parked again soon. */
const lingerMs = 10_000;
/** For a drain that has nothing more to do. */
const endMs = 5_000;

export interface DrainsOptions extends Omit<DrainContext, 'indexSet'> {
  readonly parkingTopics: ParkingTopics;
  readonly prefix: string;
  readonly group: string;
  readonly batches: Pick<ConsumeOptions, 'maxBatchBytes' | 'maxBatchRecords'>;
}

interface Drain {
  readonly consumer: Promise<Consumer>;
  neededAt: number;
}

export class Drains {
  readonly #options: DrainsOptions;
  readonly #drains = new Map<string, Drain>();

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  indexSets(): readonly string[] {
    return [...this.#drains.keys()];
  }

  /** The set has something to drain, now. */
  need(indexSet: string): void {
    const { log } = this.#options.delivery;
    const known = this.#drains.get(indexSet);
    if (known !== undefined) {
      known.neededAt = performance.now();
      return;
    }
    pipelineEvents.drainStarted(log, { index_set: indexSet });
    const consumer = this.#open(indexSet);
    this.#drains.set(indexSet, { consumer, neededAt: performance.now() });
    consumer.catch((error: unknown) => {
      pipelineEvents.drainDelayed(log, { index_set: indexSet, error: errorText(error) });
      this.#drains.delete(indexSet);
    });
  }

  /** Ends the drains that were not needed for a while. */
  async endIdle(): Promise<void> {
    const { parkingTopics, delivery } = this.#options;
    for (const [indexSet, drain] of this.#drains) {
      if (performance.now() - drain.neededAt < lingerMs) continue;
      this.#drains.delete(indexSet);
      await stop(drain, endMs);
      await parkingTopics.trim(indexSet);
      pipelineEvents.drainEnded(delivery.log, { index_set: indexSet });
    }
  }

  async stop(deadlineMs: number): Promise<void> {
    await Promise.all([...this.#drains.values()].map((drain) => stop(drain, deadlineMs)));
    this.#drains.clear();
  }

  async #open(indexSet: string): Promise<Consumer> {
    const { parkingTopics, prefix, group, batches, delivery } = this.#options;
    await parkingTopics.ensure(indexSet);
    const consumer = await delivery.topics.consume(
      {
        ...batches,
        group: drainGroup(group, indexSet),
        topics: [parkingTopic(prefix, indexSet)],
        concurrency: 1,
      },
      createDrain({ ...this.#options, indexSet }),
    );
    consumer.finished.catch((error: unknown) => {
      pipelineEvents.drainRestarted(delivery.log, { index_set: indexSet, error: errorText(error) });
      this.#drains.delete(indexSet);
    });
    return consumer;
  }
}

async function stop({ consumer }: Drain, deadlineMs: number): Promise<void> {
  const opened = await consumer.catch(() => undefined);
  await opened?.stop(deadlineMs);
}
