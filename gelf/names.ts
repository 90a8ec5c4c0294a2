/** From the names that senders use to the names of document fields. */
import { ownFields } from '../schemas/messages.js';

/**
 * `skipped`: a GELF field that the decoder reads by name. `clean`: `_name` becomes `name`, which nothing else can
 * become, so no collision has to be looked for. `checked`: may meet a field that is already set. `fixed`: always set by
 * Sluice from elsewhere, a sender's goes to `sender_<name>`.
 */
type NameRole = 'skipped' | 'clean' | 'checked' | 'fixed';

export interface FieldName {
  readonly name: string;
  readonly role: NameRole;
  /** The name was changed beyond the leading underscore. */
  readonly changed: boolean;
}

const gelfFields: ReadonlySet<string> = new Set([
  'version',
  'host',
  'short_message',
  'full_message',
  'timestamp',
  'level',
  'facility',
  'file',
  'line',
]);
/** Names that OpenSearch keeps to itself at the top of a document. */
const storeFields = [
  '_source',
  '_type',
  '_routing',
  '_field_names',
  '_ignored',
  '_nested_path',
  '_seq_no',
  '_primary_term',
  '_version',
  '_doc_count',
  '_tier',
  '_feature',
  '_data_stream_timestamp',
  '_size',
  '_meta',
];
const fixedFields: ReadonlySet<string> = new Set([
  ...ownFields,
  ...storeFields,
  'source',
  'message',
  'timestamp',
  'host',
  'short_message',
]);
const filledFields: ReadonlySet<string> = new Set([
  'level',
  'full_message',
  'facility',
  'file',
  'line',
  'level_text',
  'line_text',
  'timestamp_text',
  'message_text',
]);

/** As Graylog; letters of other scripts are replaced, since not every store and query language takes them. */
const offending = /[^A-Za-z0-9.@_-]/gu;
/** A dot divides a path: an empty part before, between or behind dots cannot be indexed. */
const emptyPart = /^\.|\.(?=\.)|\.$/g;
const maxNameLength = 256;

export function fieldNameOf(key: string): FieldName {
  if (gelfFields.has(key)) return { name: key, role: 'skipped', changed: false };
  const trimmed = key.trim();
  const bare = trimmed.length > 1 && trimmed.startsWith('_') ? trimmed.slice(1).trim() : trimmed;
  const name = bare.slice(0, maxNameLength).replace(offending, '_').replace(emptyPart, '_') || '_';
  const changed = name !== bare;
  if (fixedFields.has(name) || name === '__proto__') return { name, role: 'fixed', changed };
  const collides =
    changed || key !== `_${name}` || filledFields.has(name) || name.startsWith('sender_') || name in Object.prototype;
  return { name, role: collides ? 'checked' : 'clean', changed };
}

/** Names repeat: a few senders, a few dozen fields each. A flood of new ones empties the table and starts it again. */
const maxNames = 10_000;
/** Longer ones are looked at each time, so that the table stays small. */
const maxCachedLength = 200;

export function createFieldNames(): (key: string) => FieldName {
  const names = new Map<string, FieldName>();
  return (key) => {
    const known = names.get(key);
    if (known !== undefined) return known;
    const fresh = fieldNameOf(key);
    if (key.length <= maxCachedLength) {
      if (names.size >= maxNames) names.clear();
      names.set(key, fresh);
    }
    return fresh;
  };
}
