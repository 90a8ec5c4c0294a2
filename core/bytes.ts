/** Sizes as people write them. GB = 10^9, GiB = 2^30 bytes. */
export const byteUnits: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Bytes of `20 GB`, `512MiB` or a plain number; undefined when it is not a size. */
export function parseBytes(size: string | number): number | undefined {
  if (typeof size === 'number') return Number.isFinite(size) && size >= 0 ? Math.round(size) : undefined;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(size);
  if (match === null) return undefined;
  const unit = byteUnits[(match[2] || 'b').toLowerCase()];
  return unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

/** `1.5 GB`, `420 B`: decimal units, three significant digits. */
export function formatBytes(bytes: number): string {
  for (const [unit, factor] of [
    ['TB', 1e12],
    ['GB', 1e9],
    ['MB', 1e6],
    ['kB', 1e3],
  ] as const) {
    if (bytes >= factor) return `${Number((bytes / factor).toPrecision(3))} ${unit}`;
  }
  return `${Math.round(bytes)} B`;
}
