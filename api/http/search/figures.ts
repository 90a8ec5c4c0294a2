/** Figures of groups by the names that clients know them by. */
import type { SearchMetric } from '../../../search/contract.js';

export const figureKinds: Readonly<Record<string, SearchMetric['kind']>> = {
  avg: 'average',
  card: 'cardinality',
  count: 'count',
  latest: 'latest',
  max: 'max',
  min: 'min',
  percentile: 'percentile',
  stddev: 'deviation',
  sum: 'sum',
  sumofsquares: 'sum_of_squares',
  variance: 'variance',
};

const defaultPercentile = 95;

export function figureOf(kind: SearchMetric['kind'], field: string | undefined, percentile: unknown): SearchMetric {
  if (kind === 'latest') return { kind, field: field ?? '' };
  return {
    kind,
    ...(field === undefined ? {} : { field }),
    ...(kind === 'percentile' ? { percentile: Number(percentile ?? defaultPercentile) } : {}),
  };
}
