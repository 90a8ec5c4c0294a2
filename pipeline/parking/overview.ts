/** What people are shown of parked index sets. */
import type { BuiltMetrics } from '../../core/metrics.js';
import type { Blockage, Blockages } from '../write/blockages.js';
import type { ParkedSet } from './contract.js';
import type { parkingMetrics } from './metrics.js';
import type { ParkingTopics } from './topics.js';

/** The topic is read for its oldest message this often at the most. */
const oldestMs = 5_000;

interface OverviewOptions {
  readonly parkingTopics: ParkingTopics;
  readonly blockages: Blockages;
  readonly metrics: BuiltMetrics<typeof parkingMetrics>;
  /** The sets that partitions of this process have parked. */
  readonly parkedHere: () => ReadonlySet<string>;
}

/** A parking topic as it was last looked at. */
interface Seen {
  readonly messages: number;
  readonly bytes: number;
  /** Receive time. */
  readonly oldest: number | undefined;
}

interface OldestSeen {
  readonly at: number;
  readonly drainedTo: number;
  readonly oldest: number | undefined;
  readonly bytes: number;
}

export class ParkingOverview {
  readonly #options: OverviewOptions;
  readonly #seen = new Map<string, Seen>();
  readonly #oldest = new Map<string, OldestSeen>();

  constructor(options: OverviewOptions) {
    this.#options = options;
  }

  /** Reads how far the set's topic is drained. Resolves with how many messages wait in it. */
  async look(indexSet: string): Promise<number> {
    const { parkingTopics, blockages } = this.#options;
    const { drainedTo, logEnd, movedAt } = await parkingTopics.progress(indexSet, 'now');
    blockages.moved(indexSet, movedAt);
    const messages = Math.max(0, logEnd - drainedTo);
    if (messages === 0) {
      this.#seen.set(indexSet, { messages, bytes: 0, oldest: undefined });
      return messages;
    }
    const { oldest, bytes } = await this.#oldestOf(indexSet, drainedTo);
    const meanBytes = parkingTopics.meanBytes(indexSet) || bytes;
    this.#seen.set(indexSet, { messages, bytes: Math.round(messages * meanBytes), oldest });
    return messages;
  }

  async #oldestOf(indexSet: string, drainedTo: number): Promise<OldestSeen> {
    const last = this.#oldest.get(indexSet);
    if (last !== undefined && (last.drainedTo === drainedTo || performance.now() - last.at <= oldestMs)) return last;
    const record = await this.#options.parkingTopics.oldest(indexSet, drainedTo);
    const seen = { at: performance.now(), drainedTo, oldest: record?.timestamp, bytes: record?.value.length ?? 0 };
    this.#oldest.set(indexSet, seen);
    return seen;
  }

  describe(indexSet: string): ParkedSet {
    const { messages, bytes, oldest } = this.#seen.get(indexSet) ?? { messages: 0, bytes: 0, oldest: undefined };
    const blockage = this.#options.blockages.of(indexSet);
    const isDraining = messages > 0 || this.#options.parkedHere().has(indexSet);
    return {
      index_set: indexSet,
      state: blockage !== undefined ? 'blocked' : isDraining ? 'draining' : 'drained',
      messages,
      bytes,
      oldest_age_seconds: oldest === undefined ? 0 : Math.max(0, Math.round((Date.now() - oldest) / 1000)),
      ...(blockage === undefined ? {} : factsOf(blockage)),
    };
  }

  /** Sets with an index that takes no writes. */
  blockedSets(): readonly string[] {
    return [...this.#options.blockages.all().values()].map(({ indexSet }) => indexSet);
  }

  /** Brings the gauges up to date. */
  collect(): void {
    const { metrics } = this.#options;
    for (const indexSet of new Set([...this.#seen.keys(), ...this.blockedSets()])) {
      const { state, messages, bytes, oldest_age_seconds: age } = this.describe(indexSet);
      const label = { index_set: indexSet };
      metrics.parkingMessages.set(label, messages);
      metrics.parkingBytes.set(label, bytes);
      metrics.parkingOldestAge.set(label, age);
      metrics.parkingState.set(label, { drained: 0, draining: 1, blocked: 2 }[state]);
    }
  }
}

function factsOf({
  index,
  code,
  reason,
  since,
}: Blockage & { readonly index: string }): Pick<ParkedSet, 'index' | 'code' | 'reason' | 'blocked_since'> {
  return { index, code, reason, blocked_since: new Date(since).toISOString() };
}
