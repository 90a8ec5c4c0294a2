/**
 * Turns parsed documents into columns: known fields into theirs, frequent new ones into new columns, the rest into
 * `other_fields`.
 */
import { at } from '../../../../core/at.js';
import {
  baseFields,
  isTextList,
  kindOf,
  maxColumns,
  maxKnownFields,
  type Field,
  type FieldKind,
  type FieldTable,
} from '../files/fields.js';
import { parseCanonicalTime, readTime } from '../sql/times.js';

export type ParsedDocument = Record<string, unknown>;
export type Cell = string | number | boolean | null;

interface DocumentColumns {
  /** JSON of the fields without a column, by row. */
  readonly otherFields: Cell[];
  /** JSON of values that the engine's texts cannot hold exactly, by row: they replace what the other columns say. */
  readonly overrides: Cell[];
  /** By slot. */
  readonly cells: Cell[][];
  /** Fields that are new or changed, to be written to the table `fields`; `fields` has them already. */
  readonly changed: Field[];
  readonly newColumns: Field[];
}

/** A field becomes a column when it is in one of a hundred documents and in this many at least. */
const promoteShare = 0.01;
const promoteLeast = 20;
/** Documents after which old counts weigh half. */
const windowDocuments = 20_000;
/** Names counted at once; rarer ones than these wait for the next window. */
const maxCounted = 4000;

/** How often fields without a column came lately; lives as long as the index is attached. */
export class FieldCounts {
  #documents = 0;
  #counts = new Map<string, number>();

  seen(documents: number): void {
    this.#documents += documents;
    if (this.#documents < windowDocuments) return;
    this.#documents /= 2;
    for (const [name, count] of this.#counts) {
      if (count < 4) this.#counts.delete(name);
      else this.#counts.set(name, count / 2);
    }
  }

  add(name: string): void {
    const count = this.#counts.get(name);
    if (count !== undefined) this.#counts.set(name, count + 1);
    else if (this.#counts.size < maxCounted) this.#counts.set(name, 1);
  }

  frequent(): string[] {
    const least = Math.max(promoteLeast, this.#documents * promoteShare);
    return [...this.#counts]
      .filter(([, count]) => count >= least)
      .sort((a, b) => b[1] - a[1])
      .map(([name]) => name);
  }

  forget(name: string): void {
    this.#counts.delete(name);
  }
}

class ColumnWriter {
  readonly #rows: number;
  readonly fields: FieldTable;
  readonly cells: Cell[][] = [];
  readonly changed = new Set<Field>();
  readonly #byName = new Map<string, { readonly field: Field; readonly cells: Cell[] }>();

  constructor(fields: FieldTable, rows: number) {
    this.fields = fields;
    this.#rows = rows;
    for (const field of fields.values()) this.open(field);
  }

  open(field: Field): void {
    if (field.slot === undefined) return;
    const cells = new Array<Cell>(this.#rows).fill(null);
    this.cells[field.slot] = cells;
    this.#byName.set(field.name, { field, cells });
  }

  /** True when the column holds the value exactly. */
  put(row: number, name: string, value: unknown): boolean {
    const column = this.#byName.get(name);
    if (column === undefined) return false;
    const cell = cellOf(column.field.kind, value);
    if (cell !== undefined) {
      column.cells[row] = cell;
      return true;
    }
    if (column.field.kind === 'time') column.cells[row] = readTime(value) ?? null;
    if (!column.field.spills) {
      column.field.spills = true;
      this.changed.add(column.field);
    }
    return false;
  }
}

function cellOf(kind: FieldKind, value: unknown): Cell | undefined {
  switch (kind) {
    case 'text':
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'time':
      return typeof value === 'string' ? parseCanonicalTime(value) : undefined;
    case 'list':
      return isTextList(value) ? JSON.stringify(value) : undefined;
  }
}

/** `exotic[row]`: the document has text that is not well-formed Unicode somewhere. Changes `fields` and `counts`. */
export function buildColumns(
  documents: readonly ParsedDocument[],
  exotic: ReadonlySet<number>,
  fields: FieldTable,
  counts: FieldCounts,
): DocumentColumns {
  const writer = new ColumnWriter(fields, documents.length);
  const rests = new Array<ParsedDocument | undefined>(documents.length);
  const overrides = new Array<Cell>(documents.length).fill(null);
  const spread = (row: number, document: ParsedDocument) => {
    let rest: ParsedDocument | undefined;
    for (const name in document) {
      const value = document[name];
      if (writer.put(row, name, value)) continue;
      rest ??= {};
      assignField(rest, name, value);
      counts.add(name);
    }
    rests[row] = rest;
  };
  counts.seen(documents.length);
  for (let row = 0; row < documents.length; row += 1) {
    const document = at(documents, row);
    if (!exotic.has(row)) {
      spread(row, document);
      continue;
    }
    const { searchable, exact } = splitExotic(document);
    spread(row, searchable);
    overrides[row] = exact;
  }
  const newColumns = promote(writer, rests, counts);
  noteRareFields(writer, rests);
  const otherFields = rests.map((rest) => (rest === undefined ? null : JSON.stringify(rest)));
  return { otherFields, overrides, cells: writer.cells, changed: [...writer.changed], newColumns };
}

function promote(writer: ColumnWriter, rests: (ParsedDocument | undefined)[], counts: FieldCounts): Field[] {
  const created: Field[] = [];
  for (const name of counts.frequent()) {
    const known = writer.fields.get(name);
    if (known?.slot !== undefined || writer.cells.length >= maxColumns) {
      counts.forget(name);
      continue;
    }
    const kind = commonKind(rests, name);
    if (kind === undefined) continue;
    counts.forget(name);
    const field: Field = { name, kind, slot: writer.cells.length, spills: known !== undefined };
    writer.fields.set(name, field);
    writer.open(field);
    writer.changed.add(field);
    created.push(field);
  }
  if (created.length > 0) moveFromRests(writer, rests, new Set(created.map((field) => field.name)));
  return created;
}

function moveFromRests(writer: ColumnWriter, rests: (ParsedDocument | undefined)[], names: ReadonlySet<string>): void {
  for (let row = 0; row < rests.length; row += 1) {
    const rest = rests[row];
    if (rest === undefined) continue;
    const left = Object.entries(rest).filter(([name, value]) => !names.has(name) || !writer.put(row, name, value));
    rests[row] = left.length === 0 ? undefined : Object.fromEntries(left);
  }
}

function commonKind(rests: readonly (ParsedDocument | undefined)[], name: string): FieldKind | undefined {
  const seen = new Map<FieldKind, number>();
  for (const rest of rests) {
    const kind = rest !== undefined && Object.hasOwn(rest, name) ? kindOf(rest[name]) : undefined;
    if (kind !== undefined) seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  return [...seen].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function noteRareFields(writer: ColumnWriter, rests: readonly (ParsedDocument | undefined)[]): void {
  for (const rest of rests) {
    for (const name in rest) {
      if (writer.fields.has(name)) continue;
      if (writer.fields.size >= maxKnownFields) return;
      const field: Field = { name, kind: kindOf(rest[name]) ?? 'string', slot: undefined, spills: true };
      writer.fields.set(name, field);
      writer.changed.add(field);
    }
  }
}

/** The document with well-formed text, for the columns, and the JSON of what differs. */
function splitExotic(document: ParsedDocument): { searchable: ParsedDocument; exact: string } {
  const searchable: ParsedDocument = {};
  const exact: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    const text = JSON.stringify(value);
    if (isWellFormed(name) && !/\\ud[89a-f]/i.test(text)) {
      assignField(searchable, name, value);
      continue;
    }
    exact.push(`${JSON.stringify(name)}:${text}`);
    if (isWellFormed(name) && typeof value === 'string') assignField(searchable, name, Buffer.from(value).toString());
  }
  return { searchable, exact: `{${exact.join(',')}}` };
}

const loneSurrogate = /\p{Surrogate}/u;

function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}

/** `__proto__` is a field like any other. */
export function assignField(document: ParsedDocument, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(document, name, { value, enumerable: true, configurable: true, writable: true });
  else document[name] = value;
}

export function baseFieldTable(): FieldTable {
  return new Map(baseFields.map(([name, kind], slot) => [name, { name, kind, slot, spills: false }]));
}
