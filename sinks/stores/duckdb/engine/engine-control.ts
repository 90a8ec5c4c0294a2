/** The life of the engine itself. */
import type { Catalog } from '../files/catalog.js';
import type { WordIndexer } from '../words/word-indexer.js';
import type { WriteQueue } from '../write/write-queue.js';
import type { EngineHealth } from './contract.js';
import type { RunningSearches } from './running-searches.js';

/** How often memory is looked at that searches retain and nobody asks for any more. */
const sweepMs = 30_000;
const idleIndexMs = 120_000;
/** About 20 MB of what the engine knows of them. */
const freshDocuments = 5_000_000;

interface ControlOptions {
  readonly catalog: Catalog;
  readonly writes: WriteQueue;
  readonly searches: RunningSearches;
  readonly words: WordIndexer;
  readonly onRetained: (bytes: number) => void;
  readonly onHalted: () => void;
}

export class EngineControl {
  readonly #options: ControlOptions;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { catalog, words } = this.#options;
    await catalog.open();
    this.#sweeping = setInterval(() => {
      this.#sweep().catch(() => undefined);
    }, sweepMs).unref();
    words.start();
  }

  /** Waits for what has a lock, then closes every file. */
  async stop(): Promise<void> {
    const { catalog, writes, searches, words } = this.#options;
    clearInterval(this.#sweeping);
    searches.cancelAll();
    await Promise.all([writes.flush(), words.stop()]);
    await Promise.all(
      [...catalog.entries()].map((entry) =>
        entry.exclusive(() => catalog.inTurn(() => catalog.detachLocked(entry))).catch(() => undefined),
      ),
    );
    await catalog.close();
  }

  /** Ends what runs and refuses what comes; then says so. */
  async halt(): Promise<void> {
    const { catalog, words, onHalted } = this.#options;
    const ended = words.stop();
    await catalog.halt();
    await ended;
    onHalted();
  }

  health(): EngineHealth {
    const blocked = new Map<string, string>();
    for (const entry of this.#options.catalog.entries())
      if (entry.blocked !== undefined) blocked.set(entry.name, entry.blocked);
    return { blocked };
  }

  async #sweep(): Promise<void> {
    const { catalog, onRetained } = this.#options;
    await catalog.use(() => catalog.database.sweep());
    onRetained(catalog.database.retained.bytes);
    await catalog.detachIdle(idleIndexMs, freshDocuments);
  }
}
