/** CSV (RFC 4180 with LF, UTF-8): every value in quotes, nothing between the commas where there is no value. */
import { stringify } from 'csv-stringify/sync';

/**
 * A spreadsheet takes a cell that begins with one of these for a formula, also behind tabs and line breaks, and in
 * their full-width forms.
 */
const formulaHead = /^[=+\-@\t\r\n＝＋－＠]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

const options = { quoted: true, quoted_string: true, record_delimiter: '\n' } as const;

/**
 * One line for each row. A text that a spreadsheet would compute gets an apostrophe before it, unless it is a plain
 * number.
 */
export function csvLines(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map((row) => row.map(cellOf)),
    options,
  );
}

function cellOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return formulaHead.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
