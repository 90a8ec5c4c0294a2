/** Parking as the processor sees it: which sets are drained here, and when partitions ask how far their drains are. */
import { errorText } from '../../core/errors.js';
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { ParkedSet } from './contract.js';
import { Drains, type DrainsOptions } from './drains.js';
import { parkingMetrics } from './metrics.js';
import { ParkingOverview } from './overview.js';
import { pipelineEvents } from '../events.js';

/** How often partitions that are parked ask whether they are drained. */
const checkMs = 500;

/** The partitions of this process. */
interface ParkingPartitions {
  /** Index sets that they have parked. */
  parkedSets(): ReadonlySet<string>;
  /** Lets them ask whether these are drained. */
  checkDrained(): Promise<void>;
}

/** `delivery` has rule sets of its own, so that draining is not counted as routing. */
interface ParkingOptions extends Omit<DrainsOptions, 'metrics'> {
  readonly partitions: ParkingPartitions;
  /**
   * How often topics are looked at that no partition of this process has parked: another process may have left
   * something.
   */
  readonly sweepMs: number;
  readonly registry: Registry;
}

export class Parking {
  readonly #options: ParkingOptions;
  readonly #stopping = new AbortController();
  readonly #drains: Drains;
  readonly #overview: ParkingOverview;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #sweptAt = -Infinity;

  constructor(options: ParkingOptions) {
    const { delivery, parkingTopics, partitions } = options;
    const { blockages, route } = delivery;
    const metrics = buildMetrics(options.registry, parkingMetrics);
    this.#options = options;
    this.#drains = new Drains({
      ...options,
      metrics,
      // A drain that waits ends at once: nothing is lost by that. Outputs got the messages before they were parked.
      delivery: { ...delivery, signal: this.#stopping.signal, route: { ...route, forwarder: undefined } },
    });
    const parkedHere = (): ReadonlySet<string> => partitions.parkedSets();
    this.#overview = new ParkingOverview({ parkingTopics, blockages, metrics, parkedHere });
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#check()
        .catch((error: unknown) =>
          pipelineEvents.parkingUnread(this.#options.delivery.log, { error: errorText(error) }),
        )
        .finally(() => {
          if (!this.#stopping.signal.aborted) this.start();
        });
    }, checkMs).unref();
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
    await this.#drains.stop(deadlineMs);
  }

  async list(): Promise<readonly ParkedSet[]> {
    const parked = await this.#options.delivery.ledger.parkingSets();
    const known = new Set([...parked, ...this.#overview.blockedSets()]);
    for (const indexSet of known) await this.#overview.look(indexSet);
    return [...known].sort().map((indexSet) => this.#overview.describe(indexSet));
  }

  /** Brings the gauges up to date. */
  collect(): void {
    this.#overview.collect();
  }

  async #check(): Promise<void> {
    const { partitions } = this.#options;
    const parked = partitions.parkedSets();
    const left = await this.#leftByOthers();
    for (const indexSet of new Set([...parked, ...this.#drains.indexSets(), ...left])) {
      const messages = await this.#overview.look(indexSet);
      if (parked.has(indexSet) || messages > 0) this.#drains.need(indexSet);
    }
    if (parked.size > 0) await partitions.checkDrained();
    await this.#drains.endIdle();
  }

  async #leftByOthers(): Promise<readonly string[]> {
    if (performance.now() - this.#sweptAt < this.#options.sweepMs) return [];
    const sets = await this.#options.delivery.ledger.parkingSets();
    this.#sweptAt = performance.now();
    return sets;
  }
}
