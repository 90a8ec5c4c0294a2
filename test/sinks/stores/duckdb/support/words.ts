/** The index of words of the embedded store, which is made behind the writes. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Registry } from '../../../../../core/metrics.js';
import { slowness } from '../../../../deadlines.js';
import { metricValue } from '../../../../topics/embedded/folder.js';

const usualDeadlineMs = 10_000 * slowness;

/** Resolves when no more than so many documents have words that are not known. */
export async function wordsKnown(registry: Registry, most: number, deadlineMs = usualDeadlineMs): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (let behind = Infinity, lookedAt = 0; ; lookedAt += 1) {
    behind = await metricValue(registry, 'sluice_store_words_behind', { store: 'embedded' });
    // The figure of the last look at the files may be older than the last write.
    if (behind <= most && lookedAt > 2) return;
    if (performance.now() > end)
      throw new Error(`the words of ${behind} documents are not known after ${deadlineMs} ms`);
    await wait(50);
  }
}
