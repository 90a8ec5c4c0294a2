/** Writes requests that wait for one index in one transaction, with their markers. */
import { VARCHAR } from '@duckdb/node-api';
import { at } from '../../../../core/at.js';
import type { WriteFailure, WriteRequest, WriteResult } from '../../contract.js';
import { buildColumns, type ParsedDocument } from './batch.js';
import { columnDefinition } from '../files/fields.js';
import { appendFields, columnsOf, columnType, markerKey, type IndexFile } from '../files/index-file.js';

/** A request with its documents parsed, which happens while an earlier transaction is being committed. */
export interface ParsedWrite {
  readonly request: WriteRequest;
  /** Undefined: not a JSON object. */
  readonly documents: readonly (ParsedDocument | undefined)[];
  /** Places of documents whose text may not be well-formed Unicode. */
  readonly exotic: ReadonlySet<number>;
}

interface Group {
  readonly ids: string[];
  readonly documents: ParsedDocument[];
  /** Rows whose text is not well-formed Unicode. */
  readonly exotic: Set<number>;
  readonly markers: Map<string, { readonly request: WriteRequest; readonly next: number }>;
}

/** Answers by request. When it rejects, the transaction's outcome is unknown and `file` must be attached anew. */
export async function writeGroup(file: IndexFile, writes: readonly ParsedWrite[]): Promise<WriteResult[]> {
  const group: Group = { ids: [], documents: [], exotic: new Set(), markers: new Map() };
  const results = writes.map((write) => collect(file, group, write));
  if (group.ids.length > 0 || group.markers.size > 0) await commitDocuments(file, group);
  return results;
}

export function parseWrite(request: WriteRequest): ParsedWrite {
  const exotic = new Set<number>();
  const documents = request.documents.map((text, at) => {
    if (mayBeExotic(text)) exotic.add(at);
    return parseDocument(text);
  });
  return { request: { ...request, documents: [] }, documents, exotic };
}

function collect(file: IndexFile, group: Group, { request, documents, exotic }: ParsedWrite): WriteResult {
  const key = markerKey(request.topic, request.topicGeneration, request.partition);
  const marker = group.markers.get(key)?.next ?? file.markers.get(key) ?? 0;
  const failures: WriteFailure[] = [];
  let stored = 0;
  for (let index = 0; index < request.ids.length; index += 1) {
    const document = documents[index];
    if (document === undefined) {
      failures.push({ position: index, kind: 'refused', code: 'STORE_DOCUMENT_INVALID', reason: 'not a JSON object' });
    } else if (at(request.offsets, index) >= marker) {
      if (exotic.has(index)) group.exotic.add(group.ids.length);
      group.ids.push(at(request.ids, index));
      group.documents.push(document);
      stored += 1;
    }
  }
  if (request.nextOffset > marker) group.markers.set(key, { request, next: request.nextOffset });
  return { stored, alreadyStored: request.ids.length - stored - failures.length, failures };
}

export function parseDocument(text: string): ParsedDocument | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ParsedDocument) : undefined;
  } catch {
    return undefined;
  }
}

/** Lone surrogates come as escapes, or in the text itself. */
export function mayBeExotic(text: string): boolean {
  return (
    text.includes('\\ud') || text.includes('\\uD') || !(text as string & { isWellFormed(): boolean }).isWellFormed()
  );
}

export async function commitDocuments(file: IndexFile, group: Group): Promise<void> {
  const { connection, alias } = file;
  // Searches go on meanwhile: they must not know of a column before it is there.
  const fields = new Map(file.fields);
  const columns = buildColumns(group.documents, group.exotic, fields, file.counts);
  await connection.run('BEGIN');
  for (const field of columns.newColumns)
    await connection.run(`ALTER TABLE ${alias}.documents ADD COLUMN ${columnDefinition(field.slot ?? 0, field.kind)}`);
  if (columns.changed.length > 0) await appendFields(connection, alias, columns.changed);
  if (group.ids.length > 0) {
    const types = [VARCHAR, VARCHAR, VARCHAR, ...columnsOf(fields).map((field) => columnType(field.kind))];
    file.noteTimes(columns.cells);
    await file.appendDocuments(types, [group.ids, columns.otherFields, columns.overrides, ...columns.cells]);
  }
  for (const [key, { request, next }] of group.markers) await writeMarker(file, key, request, next);
  await connection.run('COMMIT');
  for (const field of columns.changed) file.fields.set(field.name, field);
  for (const [key, { next }] of group.markers) file.markers.set(key, next);
  file.documents += group.ids.length;
}

async function writeMarker(file: IndexFile, key: string, request: WriteRequest, next: number): Promise<void> {
  const place = `topic = $1 AND generation = $2 AND partition_number = $3`;
  const sql = file.markers.has(key)
    ? `UPDATE ${file.alias}.markers SET next_offset = $4 WHERE ${place}`
    : `INSERT INTO ${file.alias}.markers VALUES ($1, $2, $3, $4)`;
  await file.connection.run(sql, [request.topic, request.topicGeneration, request.partition, next]);
}
