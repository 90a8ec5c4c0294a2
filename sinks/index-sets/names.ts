/** Names of indices: `<prefix>_<n>`, n from 0 up, never used twice. */

const prefixPattern = /^[a-z0-9][a-z0-9_+-]{0,99}$/;

export function indexName(prefix: string, number: number): string {
  return `${prefix}_${number}`;
}

/** n of `<prefix>_<n>` without leading zeros; undefined for any other name. */
export function indexNumber(name: string, prefix: string): number | undefined {
  if (!name.startsWith(`${prefix}_`)) return undefined;
  const digits = name.slice(prefix.length + 1);
  return /^(?:0|[1-9]\d{0,14})$/.test(digits) ? Number(digits) : undefined;
}

/** One more than the largest number among these names and `used`, the largest ever used as far as anybody remembers. */
export function nextNumber(prefix: string, names: Iterable<string>, used = -1): number {
  let largest = used;
  for (const name of names) largest = Math.max(largest, indexNumber(name, prefix) ?? -1);
  return largest + 1;
}

/** What is wrong with the prefixes of a whole configuration, one sentence each; empty when nothing is. */
export function checkPrefixes(prefixes: readonly string[]): string[] {
  const problems = prefixes
    .filter((prefix) => !prefixPattern.test(prefix))
    .map(
      (prefix) =>
        `The prefix ${prefix} is not made of small letters, digits, _, + and -, beginning with a letter or digit, at most 100 characters.`,
    );
  const sorted = [...prefixes].sort();
  for (const [at, prefix] of sorted.entries()) {
    for (const other of sorted.slice(at + 1)) {
      if (other === prefix) problems.push(`The prefix ${prefix} is used by two index sets.`);
      else if (other.startsWith(`${prefix}_`))
        problems.push(`The prefix ${other} begins with ${prefix}_: the names of their indices could meet.`);
    }
  }
  return problems;
}
