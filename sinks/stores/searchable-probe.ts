/** How long a message takes from receive to being found by a search: measured on one message every few seconds. */
import { buildMetrics, type Registry } from '../../core/metrics.js';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { pause } from '../../core/wait.js';
import type { IndexStore } from './contract.js';
import { storeMetrics } from './metrics.js';
import { storeEvents } from './events.js';

/** One sample in this time, and one at once: the searches of a sample must not be felt. */
const sampleEveryMs = 5_000;
const pollMs = 200;
/** A document that is not found by then is left out of the histogram and said in the log. */
const patienceMs = 60_000;

interface SearchableProbe {
  /** A document has just been stored. */
  stored(indexSet: string, index: string, id: string, receivedAt: number): void;
}

export function createSearchableProbe(
  store: IndexStore,
  registry: Registry,
  log: Log,
  signal: AbortSignal,
): SearchableProbe {
  const { searchableSeconds } = buildMetrics(registry, storeMetrics);
  let next = 0;
  const sample = async (indexSet: string, index: string, id: string, receivedAt: number): Promise<void> => {
    const deadline = performance.now() + patienceMs;
    while (!(await store.queries.isSearchable(index, id))) {
      if (signal.aborted) return;
      if (performance.now() > deadline) return storeEvents.documentNotFound(log, { index, id });
      await pause(pollMs, signal);
    }
    searchableSeconds.observe({ index_set: indexSet }, Math.max(0, Date.now() - receivedAt) / 1000);
  };
  return {
    stored(indexSet, index, id, receivedAt) {
      const now = Date.now();
      if (now < next) return;
      next = Infinity;
      sample(indexSet, index, id, receivedAt)
        .catch((error: unknown) => storeEvents.searchDelayUnknown(log, { index, error: errorText(error) }))
        .finally(() => {
          next = now + sampleEveryMs;
        });
    },
  };
}
