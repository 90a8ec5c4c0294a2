/**
 * When index sets are checked: rotation often and after large writes, retention from time to time, never two checks at
 * once.
 */
import { errorText } from '../../core/errors.js';
import type { IndexSetDefinition } from '../../schemas/index-sets.js';
import type { IndexSets, IndexSetsOptions } from './contract.js';
import { Retirement } from './retention/retirement.js';
import { Rotator, reachesMeasure } from './rotation/rotator.js';
import { indexSetEvents } from './events.js';

/** Delay of the next check when an index is near its limit. */
const nearCheckMs = 500;

export function createIndexSets(options: IndexSetsOptions): IndexSets {
  return new IndexSetSchedule(options);
}

class IndexSetSchedule implements IndexSets {
  readonly #options: IndexSetsOptions;
  readonly #rotator: Rotator;
  readonly #retirement: Retirement;
  /** Sets with a check that was asked for by a write and has not ended. */
  readonly #measuring = new Set<string>();
  #rotationTimer: NodeJS.Timeout | undefined;
  #retentionTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: IndexSetsOptions) {
    this.#options = options;
    this.#rotator = new Rotator(options);
    this.#retirement = new Retirement(options);
  }

  start(): void {
    const { rotationCheckMs, retentionCheckMs } = this.#options;
    this.#scheduleRotation(rotationCheckMs);
    this.#retentionTimer = setInterval(() => this.#serially(() => this.checkRetention()), retentionCheckMs).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#retentionTimer);
    clearTimeout(this.#rotationTimer);
    await this.#running;
  }

  observe(indexSet: string, index: string, bytes: number): void {
    const set = this.#setOf(indexSet);
    if (set === undefined || !reachesMeasure(set.rotation, bytes)) return;
    if (this.#measuring.has(indexSet) || this.#options.ledger.currentIndices()[indexSet] !== index) return;
    this.#measuring.add(indexSet);
    this.#serially(async () => {
      try {
        await this.#rotator.checkSet(set, await this.#options.store.indices.list(set.id));
      } finally {
        this.#measuring.delete(indexSet);
      }
    });
  }

  async rotateNow(indexSet: string): Promise<boolean> {
    const set = this.#setOf(indexSet);
    return set !== undefined && this.#rotator.rotateNow(set);
  }

  checkRotation(): Promise<boolean> {
    return this.#rotator.check();
  }

  checkRetention(): Promise<void> {
    return this.#retirement.check();
  }

  #setOf(indexSet: string): IndexSetDefinition | undefined {
    return this.#options.sets().find((set) => set.id === indexSet);
  }

  #serially(work: () => Promise<void>): void {
    this.#running = this.#running
      .then(async () => {
        if (!this.#stopped) await work();
      })
      .catch((error: unknown) => indexSetEvents.indexSetCheckFailed(this.#options.log, { error: errorText(error) }));
  }

  #scheduleRotation(delayMs: number): void {
    this.#rotationTimer = setTimeout(() => this.#serially(() => this.#checkAndSchedule()), delayMs).unref();
  }

  async #checkAndSchedule(): Promise<void> {
    const { rotationCheckMs } = this.#options;
    let near = false;
    try {
      near = await this.checkRotation();
    } finally {
      if (!this.#stopped) this.#scheduleRotation(near ? Math.min(nearCheckMs, rotationCheckMs) : rotationCheckMs);
    }
  }
}
