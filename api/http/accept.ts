/** Which media type a client takes (RFC 9110, 12.5.1). */

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The first of `produced` that the header takes; undefined: none of them. Without a header, the first. */
export function acceptable(header: string | undefined, produced: readonly string[]): string | undefined {
  if (header === undefined || header.trim() === '') return produced[0];
  const ranges = header.split(',').slice(0, maxRanges).map(parseRange);
  const qualityOf = (type: string): number =>
    Math.max(0, ...ranges.filter((range) => matches(range.type, type)).map(({ quality }) => quality));
  const best = produced.map((type) => ({ type, quality: qualityOf(type) })).filter(({ quality }) => quality > 0);
  return best.reduce<{ type: string; quality: number } | undefined>(
    (found, one) => (found === undefined || one.quality > found.quality ? one : found),
    undefined,
  )?.type;
}

/** More than any browser sends. */
const maxRanges = 30;

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 };
}

/** `application/vnd.x.v2+json` is JSON of a kind that only its sender tells apart. */
function matches(range: string, type: string): boolean {
  if (range === '*/*' || range === type || range === type.split(';')[0]) return true;
  if (range.endsWith('/*')) return type.startsWith(range.slice(0, -1));
  return type.startsWith('application/json') && /^application\/[\w.+-]*json$/.test(range);
}
