/**
 * Documents by their ids: read, replaced, and written when they are not there. Rare work: the engine keeps no order of
 * ids, so a call looks through them all unless it is told where they can be.
 */
import { createHash } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { DocumentUpdate, FoundDocument, WriteFailure, WriteResult } from '../../contract.js';
import { buildColumns, FieldCounts, type Cell, type ParsedDocument } from './batch.js';
import { storeError } from '../failures.js';
import type { IdRanges } from '../retained/id-ranges.js';
import { appendFields, type IndexFile } from '../files/index-file.js';
import { restoreDocument, type ParsedRow } from '../search/restore.js';
import { forgetSegments } from '../words/segments.js';
import { commitDocuments, mayBeExotic, parseDocument, type ParsedWrite } from './writer.js';
import { numberCell, textCell, textCellOrNull } from '../sql/cells.js';

/** Ids of one statement. */
const pageIds = 1_000;

interface FoundRow extends FoundDocument {
  readonly row: number;
}

export async function readDocuments(
  connection: DuckDBConnection,
  file: IndexFile,
  ids: readonly string[],
  ranges?: IdRanges,
): Promise<Map<string, FoundRow>> {
  const columns = file.columns();
  const names = ['rowid::DOUBLE', '_id', 'other_fields', 'overrides', ...columns.map((field) => `c${field.slot}`)];
  const found = new Map<string, FoundRow>();
  for (let from = 0; from < ids.length; from += pageIds) {
    const page = ids.slice(from, from + pageIds);
    const places = page.map((_, at) => `$${at + 1}`).join(', ');
    const within = await ranges?.find(connection, file, page);
    if (within?.length === 0) continue;
    const select = `SELECT ${names.join(', ')} FROM ${file.alias}.documents WHERE`;
    // A filter on the column itself would be tried on the whole file before the range of rows is looked at.
    const sql =
      within === undefined
        ? `${select} _id IN (${places})`
        : within
            .map(([from, to]) => `${select} rowid >= ${from} AND rowid < ${to} AND _id || '' IN (${places})`)
            .join(' UNION ALL ');
    const result = await connection.runAndReadAll(sql, page);
    for (const [row, id, otherFields, overrides, ...cells] of result.getRows()) {
      const parsed: ParsedRow = {
        otherFields: textCellOrNull(otherFields),
        overrides: textCellOrNull(overrides),
        cells,
      };
      found.set(textCell(id), {
        row: numberCell(row),
        document: restoreDocument(columns, parsed),
        revision: revisionOf(parsed),
        tombstone: false,
      });
    }
  }
  return found;
}

/** Columns that came later are empty, and change nothing. */
function revisionOf({ otherFields, overrides, cells }: ParsedRow): string {
  const values = [otherFields, overrides, ...cells.flatMap((cell, slot) => (cell === null ? [] : [slot, cell]))];
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
}

/** In one transaction. When it rejects, its outcome is unknown and `file` must be attached anew. */
export async function updateDocuments(
  file: IndexFile,
  updates: readonly DocumentUpdate[],
): Promise<(string | undefined)[]> {
  const { connection, alias } = file;
  const found = await readDocuments(
    connection,
    file,
    updates.map(({ id }) => id),
  );
  await connection.run('BEGIN');
  const written = new Set<string>();
  for (const { id, document, expected } of updates) {
    const row = found.get(id);
    if (row === undefined || row.revision !== expected || written.has(id)) continue;
    const parsed = parseDocument(document);
    if (parsed === undefined) throw storeError('STORE_DOCUMENT_INVALID', alias, id);
    await replaceRow(file, row.row, parsed, mayBeExotic(document));
    written.add(id);
  }
  if (file.words.length > 0) {
    // First, so that no search believes what it looked up while they go.
    file.words = [];
    await forgetSegments(connection, alias);
  }
  await connection.run('COMMIT');
  file.changes += 1;
  const now = await readDocuments(connection, file, [...written]);
  return updates.map(({ id, expected }) =>
    written.has(id) && found.get(id)?.revision === expected ? now.get(id)?.revision : undefined,
  );
}

/** Counts of its own: one document never makes a new column. */
async function replaceRow(file: IndexFile, row: number, document: ParsedDocument, exotic: boolean): Promise<void> {
  const columns = buildColumns([document], exotic ? new Set([0]) : new Set(), file.fields, new FieldCounts());
  file.noteTimes(columns.cells);
  if (columns.changed.length > 0) await appendFields(file.connection, file.alias, columns.changed);
  const cells = new Map<string, Cell>([
    ['other_fields', columns.otherFields[0] ?? null],
    ['overrides', columns.overrides[0] ?? null],
  ]);
  for (const { slot } of file.columns()) cells.set(`c${slot}`, columns.cells[slot ?? 0]?.[0] ?? null);
  const values: Cell[] = [];
  const settings = Array.from(cells, ([name, cell]) =>
    cell === null ? `${name} = NULL` : `${name} = $${values.push(cell)}`,
  );
  await file.connection.run(`UPDATE ${file.alias}.documents SET ${settings.join(', ')} WHERE rowid = ${row}`, values);
}

/** Protocol rule 13. When it rejects, the transaction's outcome is unknown and `file` must be attached anew. */
export async function writeById(file: IndexFile, { request, documents, exotic }: ParsedWrite): Promise<WriteResult> {
  const present = new Set((await readDocuments(file.connection, file, request.ids)).keys());
  const failures: WriteFailure[] = [];
  const alreadyStoredAt: number[] = [];
  const ids: string[] = [];
  const fresh: ParsedDocument[] = [];
  const freshExotic = new Set<number>();
  for (const [position, id] of request.ids.entries()) {
    const document = documents[position];
    if (present.has(id)) alreadyStoredAt.push(position);
    else if (document === undefined)
      failures.push({ position, kind: 'refused', code: 'STORE_DOCUMENT_INVALID', reason: 'not a JSON object' });
    else {
      if (exotic.has(position)) freshExotic.add(ids.length);
      present.add(id);
      ids.push(id);
      fresh.push(document);
    }
  }
  if (ids.length > 0) await commitDocuments(file, { ids, documents: fresh, exotic: freshExotic, markers: new Map() });
  return { stored: ids.length, alreadyStored: alreadyStoredAt.length, alreadyStoredAt, failures };
}
