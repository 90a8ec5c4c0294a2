/** A GELF message with its longest texts cut, so that it has at most so many bytes. */
const mark = ' [cut]';

/** Undefined when cutting texts is not enough. */
export function shortenGelf(text: string, maxBytes: number): string | undefined {
  let root: Record<string, unknown>;
  try {
    root = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  for (;;) {
    const shortened = JSON.stringify(root);
    const excess = Buffer.byteLength(shortened) - maxBytes;
    if (excess <= 0) return shortened;
    const longest = Object.keys(root)
      .filter((key) => typeof root[key] === 'string')
      .sort((a, b) => (root[b] as string).length - (root[a] as string).length)[0];
    const value = longest === undefined ? '' : (root[longest] as string);
    if (longest === undefined || value.length <= mark.length + 1) return undefined;
    root[longest] = cut(value, excess + mark.length);
  }
}

/** Without at least so many bytes of its end: a character has one at the least, so it never takes long. */
function cut(value: string, bytes: number): string {
  let end = value.length;
  let gone = 0;
  while (end > 1 && gone < bytes) {
    const step = Math.min(end - 1, Math.ceil((bytes - gone) / 6));
    gone += Buffer.byteLength(JSON.stringify(value.slice(end - step, end))) - 2;
    end -= step;
  }
  if (/[\ud800-\udbff]/.test(value[end - 1] ?? '')) end -= 1;
  return value.slice(0, Math.max(1, end)) + mark;
}
