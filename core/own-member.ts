/** A member of the table itself: names from outside such as `constructor` are none. */
export function ownMember<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
