/** Rows as CSV: every value quoted, nothing between the commas where the field is missing, lines end with LF, UTF-8. */
import { stringify } from 'csv-stringify/sync';
import type { SearchHit } from '../schemas/query.js';

/** Spreadsheets read a cell that begins with one of these as a formula: a quote before it makes it a text. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

const options = { quoted: true, quoted_string: true, record_delimiter: '\n' } as const;

/** Of the fields, in their order. `_id` and `_index` are fields too. */
export function csvHeader(fields: readonly string[]): string {
  return stringify([fields.map(safeText)], options);
}

export function csvLines(hits: readonly SearchHit[], fields: readonly string[]): string {
  return stringify(
    hits.map((hit) => fields.map((field) => cellOf(fieldOf(hit, field)))),
    options,
  );
}

export function fieldOf(hit: SearchHit, field: string): unknown {
  if (field === '_id') return hit._id;
  if (field === '_index') return hit._index;
  return Object.hasOwn(hit.document, field) ? hit.document[field] : undefined;
}

function cellOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return safeText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : safeText(JSON.stringify(value));
}

function safeText(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}
