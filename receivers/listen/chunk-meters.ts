import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { ChunkCounters } from '../frame/chunks.js';
import { receiverMetrics } from '../metrics.js';

/** Carries the assembler's own counts over to the metrics; to be called now and then. */
export function createChunkMeters(registry: Registry, receiver: string, counters: ChunkCounters): () => void {
  const metrics = buildMetrics(registry, receiverMetrics);
  const labels = { receiver };
  const waiting = metrics.chunkSetsWaiting.labels(labels);
  const meters = (
    [
      ['chunks', metrics.chunksReceived],
      ['duplicate', metrics.chunksDuplicate],
      ['completed', metrics.chunkSetsCompleted],
      ['expired', metrics.chunkSetsExpired],
      ['evicted', metrics.chunkSetsEvicted],
    ] as const
  ).map(([key, counter]) => ({ key, counter: counter.labels(labels), told: 0 }));
  for (const { counter } of meters) counter.inc(0);
  return () => {
    for (const meter of meters) {
      const count = counters[meter.key];
      if (count > meter.told) meter.counter.inc(count - meter.told);
      meter.told = count;
    }
    waiting.set(counters.waitingSets);
  };
}
