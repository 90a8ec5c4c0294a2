/**
 * Metrics declared as data. Each folder declares its own in a `metrics.ts` with `defineMetrics`; the process builds
 * them on one registry; `docs/reference/metrics.md` is generated from the declarations.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export { Registry };

interface Declaration<Type extends string> {
  readonly type: Type;
  /** Full name: `sluice_` + noun + past verb + unit; counters end in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}
type CounterDeclaration = Declaration<'counter'>;
interface GaugeDeclaration extends Declaration<'gauge'> {
  /**
   * How the values of several workers become one; `max` or `min` where each of them sees the same thing. Default: sum.
   */
  readonly across?: 'sum' | 'max' | 'min';
}
interface HistogramDeclaration extends Declaration<'histogram'> {
  readonly buckets: readonly number[];
}
export type MetricDeclaration = CounterDeclaration | GaugeDeclaration | HistogramDeclaration;

/** Seconds; wide enough for an acknowledgement of 1 ms and a searchable delay of a minute. */
export const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

type Built<D> = D extends CounterDeclaration
  ? Counter
  : D extends GaugeDeclaration
    ? Gauge
    : D extends HistogramDeclaration
      ? Histogram
      : never;
export type BuiltMetrics<Declarations> = { readonly [Key in keyof Declarations]: Built<Declarations[Key]> };

/**
 * CPU, memory, file descriptors, event loop, garbage collections of this process, under the names of every Node.js
 * program (`process_`, `nodejs_`).
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}

export function defineMetrics<const Declarations extends Record<string, MetricDeclaration>>(
  declarations: Declarations,
): Declarations {
  return declarations;
}

/** Creates (or, when this registry has them already, returns) the declared metrics. Safe to call once per component. */
export function buildMetrics<Declarations extends Record<string, MetricDeclaration>>(
  registry: Registry,
  declarations: Declarations,
): BuiltMetrics<Declarations> {
  const built: Record<string, Counter | Gauge | Histogram> = {};
  for (const [key, declaration] of Object.entries(declarations)) {
    const existing = registry.getSingleMetric(declaration.name);
    built[key] = (existing as Counter | Gauge | Histogram | undefined) ?? createMetric(registry, declaration);
  }
  return built as BuiltMetrics<Declarations>;
}

function createMetric(registry: Registry, declaration: MetricDeclaration): Counter | Gauge | Histogram {
  const options = {
    name: declaration.name,
    help: declaration.help,
    labelNames: [...(declaration.labels ?? [])],
    registers: [registry],
  };
  switch (declaration.type) {
    case 'counter':
      return new Counter(options);
    case 'gauge':
      return new Gauge({ ...options, aggregator: declaration.across ?? 'sum' });
    case 'histogram':
      return new Histogram({ ...options, buckets: [...declaration.buckets] });
  }
}
