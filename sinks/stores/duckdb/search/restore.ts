/** Rows back into the documents that were written. */
import { assignField, type ParsedDocument } from '../write/batch.js';
import type { Field } from '../files/fields.js';
import { formatTime } from '../sql/times.js';
import { numberCell, textCell } from '../sql/cells.js';

export interface ParsedRow {
  readonly otherFields: string | null;
  readonly overrides: string | null;
  /** Parallel to the columns asked for. */
  readonly cells: readonly unknown[];
}

export function restoreDocument(columns: readonly Field[], row: ParsedRow): ParsedDocument {
  const document: ParsedDocument = {};
  for (const [at, column] of columns.entries()) {
    const cell = row.cells[at];
    if (cell !== null && cell !== undefined) assignField(document, column.name, valueOf(column, cell));
  }
  if (row.otherFields !== null) assignAll(document, row.otherFields);
  if (row.overrides !== null) assignAll(document, row.overrides);
  return document;
}

function valueOf(column: Field, cell: unknown): unknown {
  if (column.kind === 'time') return formatTime(numberCell(cell));
  return column.kind === 'list' ? JSON.parse(textCell(cell)) : cell;
}

function assignAll(document: ParsedDocument, json: string): void {
  const values = JSON.parse(json) as ParsedDocument;
  for (const name of Object.keys(values)) assignField(document, name, values[name]);
}
