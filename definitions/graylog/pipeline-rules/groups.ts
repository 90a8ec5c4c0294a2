/** Groups of a pattern: counted, and given names, so that the action regex makes a field of one. */

/** Where the capturing groups of a pattern open, in order. Escapes, classes and quoted parts are passed over. */
function openings(pattern: string): readonly number[] {
  const found: number[] = [];
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') {
      const end = pattern[at + 1] === 'Q' ? pattern.indexOf('\\E', at + 2) : at + 1;
      at = pattern[at + 1] === 'Q' ? (end < 0 ? pattern.length : end + 1) : end;
    } else if (inClass) {
      if (character === ']') inClass = false;
    } else if (character === '[') {
      inClass = true;
      // A bracket that comes first stands for itself.
      if (pattern[at + 1] === '^') at += 1;
      if (pattern[at + 1] === ']') at += 1;
    } else if (character === '(' && (pattern[at + 1] !== '?' || /^\(\?P?<[A-Za-z]/.test(pattern.slice(at, at + 5))))
      found.push(at);
  }
  return found;
}

/** The pattern with the group of this number (from 0) under this name; undefined: it has no such group. */
export function withNamedGroup(pattern: string, number: number, name: string): string | undefined {
  const at = openings(pattern)[number];
  if (at === undefined) return undefined;
  const rest = pattern.slice(at + 1).replace(/^\?P?<[^>]*>/, '');
  return `${pattern.slice(0, at)}(?P<${name}>${rest}`;
}
