/** Durations as people write them. */

const factors: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
export const durationForms = '30s, 15m, 2h, 7d, 4w, also joined as 1h30m';

/** Milliseconds of `15m` or `1h30m`; undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*(ms|[smhdw])\s*/gy)];
  if (
    parts.length === 0 ||
    parts
      .map((part) => part[0])
      .join('')
      .trim() !== text.trim()
  )
    return undefined;
  const total = parts.reduce((sum, part) => sum + Number(part[1]) * (factors[part[2] ?? ''] ?? 0), 0);
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}
