/**
 * One set of metrics from those of several workers. Counters never fall: what a worker had counted when it was last
 * asked stays in the sums after its end.
 */
import { AggregatorRegistry } from 'prom-client';
import type { Registry } from '../../core/metrics.js';

/** One metric as `Registry.getMetricsAsJSON` tells it; it says itself how several become one. */
export interface MetricSnapshot {
  readonly name: string;
  readonly type: string;
}

export interface MergedMetrics {
  /** What the worker in this place says now. */
  learn(worker: number, metrics: readonly MetricSnapshot[]): void;
  /** The worker in this place has ended: its counts are kept, its gauges are gone. */
  departed(worker: number): void;
  /** In the text format of Prometheus; `own` comes on top. */
  text(own: Registry): Promise<string>;
}

export function createMergedMetrics(): MergedMetrics {
  const latest = new Map<number, readonly MetricSnapshot[]>();
  let kept: readonly MetricSnapshot[] = [];
  return {
    learn: (worker, metrics) => void latest.set(worker, metrics),
    departed(worker) {
      const counts = (latest.get(worker) ?? []).filter(({ type }) => type === 'counter' || type === 'histogram');
      latest.delete(worker);
      kept = merge([kept, counts]).getMetricsAsArray() as unknown as readonly MetricSnapshot[];
    },
    text: async (own) =>
      merge([
        ...latest.values(),
        kept,
        (await own.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[],
      ]).metrics(),
  };
}

function merge(all: readonly (readonly MetricSnapshot[])[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
