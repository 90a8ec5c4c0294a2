/** How rules see the fields of a message: aliases, text and number of a value, names that they may not write. */
import { ownFields, type FieldValue, type LogDocument } from '../schemas/messages.js';

export type Value = FieldValue | readonly string[] | undefined;

const pairs = [
  ['container', 'container_name'],
  ['namespace', 'namespace_name'],
  ['pod', 'pod_name'],
  ['host', 'hostname'],
] as const;

/** Forwarders disagree on these names; a condition on one sees the other when its own is missing. */
export const aliases: ReadonlyMap<string, string> = new Map(
  pairs.flatMap(([short, long]) => [
    [short, long],
    [long, short],
  ]),
);

/** Names that every object has: reading one of a message must not find the object's own. */
const inherited = (field: string): boolean => field in Object.prototype;

/** Reads one field, exact name only. */
export function plainReader(field: string): (document: LogDocument) => Value {
  if (inherited(field)) return (document) => (Object.hasOwn(document, field) ? document[field] : undefined);
  return (document) => document[field];
}

/** Reads one field, its alias when it is missing. */
export function fieldReader(field: string): (document: LogDocument) => Value {
  const alias = aliases.get(field);
  if (alias === undefined) return plainReader(field);
  return (document) => {
    const value = document[field];
    return value === undefined ? document[alias] : value;
  };
}

export function textOf(value: FieldValue | readonly string[]): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

const decimal = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
/** Longer texts are not numbers; keeps the check cheap on long messages. */
const longestNumber = 64;

/** The number of a value, numeric text included; NaN when it is none. */
export function numberOf(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > longestNumber || !decimal.test(value)) return Number.NaN;
  return Number(value);
}

/** Present, and not blank when it is text. */
export function isPresent(value: Value): boolean {
  if (typeof value !== 'string') return value !== undefined;
  const first = value.charCodeAt(0);
  return (first > 0x20 && first < 0x80) || value.trim() !== '';
}

/**
 * `delete` would turn the document into a hash table, at twice the cost for every step that follows; undefined counts
 * as absent everywhere.
 */
export function removeField(document: LogDocument, field: string): void {
  if (field in document) (document as Record<string, unknown>)[field] = undefined;
}

const own: ReadonlySet<string> = new Set(ownFields);

/** Fields that no rule may write or remove. `timestamp` is written by the action date only, which keeps it a time. */
export const isProtected = (field: string): boolean => own.has(field) || field === 'timestamp' || inherited(field);

const forbiddenCharacters = /[^A-Za-z0-9.@_-]/g;
/** The longest field name that the stores take. */
const longestName = 256;

/** The name under which a key found in a message is stored; undefined when nothing usable is left of it. */
export function storableName(key: string): string | undefined {
  const name = key.replace(forbiddenCharacters, '_');
  if (name === '' || name.length > longestName) return undefined;
  return isProtected(name) ? `sender_${name}` : name;
}
