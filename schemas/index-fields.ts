/**
 * The fields that every index knows from its creation, with their types: both stores and the fitter follow this table.
 */
export const standardFields: ReadonlyMap<string, 'text' | 'string' | 'number' | 'time'> = new Map([
  ['message', 'text'],
  ['full_message', 'text'],
  ['source', 'string'],
  ['timestamp', 'time'],
  ['receive_time', 'time'],
  ['level', 'number'],
  ['facility', 'string'],
  ['receiver', 'string'],
  ['peer_address', 'string'],
  ['streams', 'string'],
  ['rule_set_version', 'string'],
  ['adjustments', 'string'],
  ['other_fields', 'string'],
]);

/** Fields whose values are points in time: their ranges compare times. */
export const timeFields: ReadonlySet<string> = new Set(
  [...standardFields].filter(([, type]) => type === 'time').map(([name]) => name),
);

/**
 * Longer strings are kept and shown but match no condition, except words of text fields: 8,191 characters are under
 * 32,766 bytes of UTF-8.
 */
export const maxIndexedLength = 8_191;

/**
 * The adjustment that says so. OpenSearch keeps no other trace of the value: a search for the field's existence asks
 * for this.
 */
export function tooLongNote(field: string): string {
  return `${field}: longer than ${maxIndexedLength} characters, kept but not searchable`;
}
