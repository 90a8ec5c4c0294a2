/**
 * The GELF of a message that rules changed: the sender's own text, with only the changed fields put in, taken out or
 * replaced.
 */
import type { FieldChanges } from '../../rules/contract.js';
import { fieldNameOf, literalsOf } from '../../gelf/contract.js';
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import { ownFields } from '../../schemas/messages.js';

const own: ReadonlySet<string> = new Set(ownFields);
/** Fields of the document that stand under another name, or without an underscore, in GELF. */
const standard: Readonly<Record<string, string>> = {
  source: 'host',
  message: 'short_message',
  full_message: 'full_message',
  timestamp: 'timestamp',
  level: 'level',
  facility: 'facility',
  file: 'file',
  line: 'line',
};

/** GELF takes nothing else there, and nothing blank for the first two. */
const texts: ReadonlySet<string> = new Set(['source', 'message', 'full_message', 'facility', 'file']);

/** The name in GELF; undefined for fields that never leave. `_id` is not allowed there, so `id` goes as `__id`. */
function gelfNameOf(field: string): string | undefined {
  if (own.has(field)) return undefined;
  if (Object.hasOwn(standard, field)) return standard[field];
  return field === 'id' ? '__id' : `_${field}`;
}

/** Which of the sender's members a document's field came from. */
function memberOf(field: string, members: ReadonlyMap<string, string>): string | undefined {
  if (Object.hasOwn(standard, field)) {
    const name = standard[field] as string;
    if (members.has(name)) return name;
    // Without a usable short_message the text came from `message`; other standard fields may have come with an
    // underscore.
    const other = field === 'message' ? 'message' : `_${field}`;
    return members.has(other) ? other : undefined;
  }
  if (members.has(`_${field}`)) return `_${field}`;
  for (const member of members.keys()) {
    const { name, role } = fieldNameOf(member);
    if (name === field && role !== 'skipped') return member;
  }
  return undefined;
}

function literalOf(field: string, value: FieldValue | readonly string[]): string {
  if (texts.has(field)) {
    const text = typeof value === 'object' ? value.join(', ') : String(value);
    return JSON.stringify(text.trim() === '' ? '-' : text);
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (field !== 'timestamp') return JSON.stringify(typeof value === 'string' ? value : value.join(', '));
  const milliseconds = Date.parse(String(value));
  return Number.isNaN(milliseconds) ? JSON.stringify(value) : String(milliseconds / 1000);
}

export interface SenderText {
  readonly text: string;
  readonly extraDocuments: boolean;
}

/** `_host` would only repeat GELF's own host, and every receiver knows that one. */
const isImplied = (field: string, document: LogDocument): boolean =>
  own.has(field) || (field === 'host' && document['host'] === document['source']);

/** The message has been decoded before. Undefined when nothing that leaves was changed. */
export function modifiedGelf(
  message: SenderText,
  document: LogDocument,
  { added, changed }: FieldChanges,
): Buffer | undefined {
  const fields = [...new Set([...added, ...changed])].filter((field) => !isImplied(field, document));
  if (fields.length === 0) return undefined;
  if (changed.length === 0 && !message.extraDocuments) {
    const appended = withAppended(message.text, document, fields);
    if (appended !== undefined) return Buffer.from(appended);
  }
  const members = new Map(literalsOf(message.text));
  for (const field of fields) replace(members, field, document[field]);
  for (const [name, stand] of [
    ['short_message', 'message'],
    ['host', ''],
  ] as const)
    if (!members.has(name) && !members.has(stand)) members.set(name, '"-"');
  return Buffer.from(`{${[...members].map(([name, literal]) => `${JSON.stringify(name)}:${literal}`).join(',')}}`);
}

function replace(members: Map<string, string>, field: string, value: FieldValue | readonly string[] | undefined): void {
  const name = gelfNameOf(field) as string;
  const from = memberOf(field, members);
  if (value === undefined) {
    if (from !== undefined) members.delete(from);
    return;
  }
  // A name that GELF does not allow is kept where the sender chose it, so that it stays the same field.
  members.set(from ?? name, literalOf(field, value));
}

/** Fields that the message did not have stand at its end: nothing of the rest need be looked at. */
function withAppended(text: string, document: LogDocument, fields: readonly string[]): string | undefined {
  const end = text.lastIndexOf('}');
  let last = end - 1;
  while (last > 0 && text.charCodeAt(last) <= 0x20) last -= 1;
  if (end < 0 || text[last] === ',' || text[last] === '{') return undefined;
  let added = '';
  for (const field of fields) {
    const value = document[field];
    if (value === undefined) continue;
    const name = JSON.stringify(gelfNameOf(field));
    // It stands there as null or empty, or as a text within another.
    if (text.includes(name)) return undefined;
    added += `,${name}:${literalOf(field, value)}`;
  }
  return text.slice(0, last + 1) + added + text.slice(last + 1, end + 1);
}
