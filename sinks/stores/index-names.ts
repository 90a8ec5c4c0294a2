/** Names of concrete indices. */
const indexName = /^[A-Za-z0-9][\w.-]{0,199}$/;

export function isIndexName(name: string): boolean {
  return indexName.test(name);
}

/** n of `<prefix>_<n>`; undefined for any other name. */
export function indexNumber(name: string, prefix: string): number | undefined {
  if (!name.startsWith(`${prefix}_`)) return undefined;
  const digits = name.slice(prefix.length + 1);
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}
