/** Documents of what a search has found. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchHit } from '../../../../schemas/query.js';
import type { Field } from '../files/fields.js';
import type { IndexFile } from '../files/index-file.js';
import { mayBeInOtherFields } from '../sql/value-sql.js';
import type { Found, SearchedIndex } from './found.js';
import { restoreDocument, type ParsedRow } from './restore.js';
import { numberCell, textCellOrNull } from '../sql/cells.js';

export async function fetchHits(
  connection: DuckDBConnection,
  found: readonly Found[],
  wanted: readonly string[] | undefined,
): Promise<SearchHit[]> {
  if (wanted?.length === 0) return found.map((one) => ({ _id: one.id, _index: one.index.name, document: {} }));
  const byIndex = new Map<SearchedIndex, Found[]>();
  for (const one of found) {
    const rows = byIndex.get(one.index);
    if (rows === undefined) byIndex.set(one.index, [one]);
    else rows.push(one);
  }
  const documents = new Map<Found, Readonly<Record<string, unknown>>>();
  for (const [index, rows] of byIndex) {
    const columns = wantedColumns(index.file, wanted);
    const stored = await fetchRows(
      connection,
      index.file,
      { columns, others: needsOtherFields(index.file, wanted) },
      rows.map((one) => one.row),
    );
    for (const one of rows) {
      const row = stored.get(one.row);
      if (row !== undefined) documents.set(one, project(restoreDocument(columns, row), wanted));
    }
  }
  return found.flatMap((one) => {
    const document = documents.get(one);
    return document === undefined ? [] : [{ _id: one.id, _index: one.index.name, document }];
  });
}

function wantedColumns(file: IndexFile, wanted: readonly string[] | undefined): Field[] {
  return wanted === undefined ? file.columns() : file.columns().filter((field) => wanted.includes(field.name));
}

function project(document: Record<string, unknown>, wanted: readonly string[] | undefined): Record<string, unknown> {
  return wanted === undefined
    ? document
    : Object.fromEntries(Object.entries(document).filter(([name]) => wanted.includes(name)));
}

/** Reading it costs as much as all the rest. */
function needsOtherFields(file: IndexFile, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.some((name) => mayBeInOtherFields(file.fields, file.fields.get(name)));
}

interface WantedCells {
  readonly columns: readonly Field[];
  readonly others: boolean;
}

async function fetchRows(
  connection: DuckDBConnection,
  file: IndexFile,
  { columns, others }: WantedCells,
  rows: readonly number[],
): Promise<Map<number, ParsedRow>> {
  const names = [
    'rowid::DOUBLE',
    others ? 'other_fields' : 'NULL::VARCHAR',
    'overrides',
    ...columns.map((field) => `c${field.slot}`),
  ];
  if (rows.length === 0) return new Map();
  // The bounds let the engine pass most of the file by.
  const bounds = `rowid >= ${rows.reduce((least, row) => Math.min(least, row))} AND rowid <= ${rows.reduce((most, row) => Math.max(most, row))}`;
  const result = await connection.runAndReadAll(
    `SELECT ${names.join(', ')} FROM ${file.alias}.documents WHERE rowid IN (${rows.join(', ')}) AND ${bounds}`,
  );
  const fetched = new Map<number, ParsedRow>();
  for (const [row, otherFields, overrides, ...cells] of result.getRows())
    fetched.set(numberCell(row), {
      otherFields: textCellOrNull(otherFields),
      overrides: textCellOrNull(overrides),
      cells,
    });
  return fetched;
}
