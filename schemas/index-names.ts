/**
 * Names of indices: `<prefix>_<n>`. The prefix is the id of the index set; n goes from 0 up and is never used twice.
 */

const wholeName = /^[a-z0-9][a-z0-9_+.-]*_\d{1,15}$/;
const maxNameLength = 200;
const numberPattern = /^\d{1,15}$/;

/** What `isIndexName` takes, in words, for errors. */
export const indexNameRule = `<prefix>_<number> of small letters, digits, _, . - and +, at most ${maxNameLength} characters`;

export function isIndexName(name: string): boolean {
  return name.length <= maxNameLength && wholeName.test(name);
}

export function indexName(prefix: string, number: number): string {
  return `${prefix}_${number}`;
}

/** n of `<prefix>_<n>`; undefined for any other name. */
export function indexNumber(name: string, prefix: string): number | undefined {
  if (!namesCanMeet(prefix, name)) return undefined;
  const digits = name.slice(prefix.length + 1);
  return numberPattern.test(digits) ? Number(digits) : undefined;
}

/** The prefix of `<prefix>_<n>`; undefined for any other name. */
export function indexPrefix(name: string): string | undefined {
  const end = name.lastIndexOf('_');
  return end > 0 && numberPattern.test(name.slice(end + 1)) ? name.slice(0, end) : undefined;
}

/** A wildcard for all indices of a prefix. It may match others too: check what it finds with `indexNumber`. */
export function indexPattern(prefix: string): string {
  return `${prefix}_*`;
}

/**
 * Whether `longer` begins like an index of `prefix`: as prefixes of two sets, their indices could not be told apart.
 */
export function namesCanMeet(prefix: string, longer: string): boolean {
  return longer.startsWith(`${prefix}_`);
}

/** Those of the items that are indices of the prefix, by n ascending. */
export function indicesOf<Item>(prefix: string, items: Iterable<Item>, nameOf: (item: Item) => string): Item[] {
  const numbered: { readonly item: Item; readonly number: number }[] = [];
  for (const item of items) {
    const number = indexNumber(nameOf(item), prefix);
    if (number !== undefined) numbered.push({ item, number });
  }
  return numbered.sort((one, other) => one.number - other.number).map(({ item }) => item);
}
