/** The value below which this share of the numbers lies. */
export function percentile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** 'median 80, p95 250, max 400'. */
export function spread(numbers) {
  return `median ${percentile(numbers, 0.5)}, p95 ${percentile(numbers, 0.95)}, max ${percentile(numbers, 1)}`;
}
