/** Rows as the text of a file, piece by piece. */
import { csvLines } from '../core/csv.js';
import type { SearchHit } from '../schemas/query.js';
import type { ExportFormat, ExportPiece } from './contract.js';

/** Columns of an export that names no fields. */
const defaultExportFields = ['timestamp', 'source', 'message'] as const;

/**
 * `csv`: a header line before the first row, nothing at all without rows. `json`: one flat document a line, with `_id`
 * and `_index`; all fields when none are named.
 */
export async function* exportText(
  rows: AsyncIterable<readonly SearchHit[]>,
  format: ExportFormat,
  fields: readonly string[] | undefined,
): AsyncGenerator<ExportPiece> {
  const columns = fields ?? defaultExportFields;
  let first = true;
  for await (const batch of rows) {
    if (batch.length === 0) continue;
    const text =
      format === 'json' ? jsonLines(batch, fields) : csvLines([...(first ? [columns] : []), ...rowsOf(batch, columns)]);
    first = false;
    yield { text, rows: batch.length };
  }
}

/** The fields that have to be read of each row. */
export function exportedFields(
  format: ExportFormat,
  fields: readonly string[] | undefined,
): readonly string[] | undefined {
  return fields ?? (format === 'csv' ? defaultExportFields : undefined);
}

/** `_id` and `_index` are fields too. */
function rowsOf(hits: readonly SearchHit[], fields: readonly string[]): unknown[][] {
  return hits.map((hit) => fields.map((field) => fieldOf(hit, field)));
}

function fieldOf(hit: SearchHit, field: string): unknown {
  if (field === '_id') return hit._id;
  if (field === '_index') return hit._index;
  return Object.hasOwn(hit.document, field) ? hit.document[field] : undefined;
}

function jsonLines(hits: readonly SearchHit[], fields: readonly string[] | undefined): string {
  const wanted = fields === undefined ? undefined : new Set(fields);
  return hits
    .map((hit) => {
      const entries = Object.entries(hit.document).filter(
        ([name]) => name !== '_id' && name !== '_index' && (wanted === undefined || wanted.has(name)),
      );
      return `${JSON.stringify(Object.fromEntries([['_id', hit._id], ['_index', hit._index], ...entries]))}\n`;
    })
    .join('');
}
