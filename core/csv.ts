/** One line of CSV (RFC 4180 with LF): every value in quotes, nothing between the commas for none. */

/** A spreadsheet runs a cell that begins so as a formula: such a text gets an apostrophe before it, unless it is a plain number. */
const formulaHead = /^[=+\-@\t\r]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\n`;
}

function csvCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return `"${value}"`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = formulaHead.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
