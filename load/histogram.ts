/** Durations in buckets 5 % apart, from a microsecond to an hour: percentiles in constant memory. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface LatencyHistogram {
  add(milliseconds: number): void;
  /** Milliseconds. */
  percentiles(): Percentiles;
}

const step = Math.log(1.05);
const buckets = Math.ceil(Math.log(3.6e9) / step) + 1;

export function createHistogram(): LatencyHistogram {
  const counts = new Float64Array(buckets);
  let count = 0;
  let max = 0;
  const percentile = (share: number): number => {
    let left = Math.ceil(count * share);
    for (let at = 0; at < buckets; at += 1) {
      left -= counts[at] ?? 0;
      if (left <= 0) return Math.min(max, Math.exp(step * (at + 1)) / 1000);
    }
    return max;
  };
  return {
    add(milliseconds) {
      const at = Math.min(buckets - 1, Math.max(0, Math.floor(Math.log(Math.max(1, milliseconds * 1000)) / step)));
      counts[at] = (counts[at] ?? 0) + 1;
      count += 1;
      if (milliseconds > max) max = milliseconds;
    },
    percentiles: () =>
      count === 0
        ? { count, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 }
        : { count, p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), p999: percentile(0.999), max },
  };
}
