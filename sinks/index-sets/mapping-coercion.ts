/**
 * Makes documents fit their index before they are serialised, so that no message is lost to a field that was first seen
 * as another type, to the thousand-and-first field, or to an odd name. What was changed says so in `adjustments`. Both
 * stores get the same text.
 *
 * What it does, field by field (everything else passes as it is):
 * - text, boolean in a number field: to the twin `<name>_text`
 * - a number or a boolean in a string field: stays, and is matched as text
 * - a new field past the limit, or a name that an index cannot have: to `other_fields`, as `name=value`
 * - a text longer than an index takes: stays, shown but not searchable, and noted
 * - `timestamp` that is no time, or beyond the year 9999: to `timestamp_text`; the receive time takes its place
 */
import { maxIndexedLength, standardFields } from '../../schemas/index-fields.js';
import type { LogDocument } from '../../schemas/messages.js';
import type { FieldType } from '../stores/contract.js';
import { adjust } from './adjust.js';
import { createFieldTable, type FieldTable } from './field-table.js';
import { isTime } from './times.js';

interface MappingCoercionOptions {
  /** Fields of one index, standard ones included. */
  readonly maxFields: number;
  /** Fields with a type from the beginning, in every index. */
  readonly reserved?: ReadonlyMap<string, FieldType>;
}

export interface MappingCoercion {
  /** The document's JSON text, changed where it has to be. Never changes the document itself. */
  coerce(index: string, document: LogDocument): string;
  /** Learns what the store knows of the index: before its first document, and again after the index had no room. */
  prepare(index: string, load: (index: string) => Promise<ReadonlyMap<string, FieldType>>): Promise<void>;
  /** After the index has been deleted or is written no more. */
  forget(index: string): void;
  /**
   * A text that the index may take, for one that it refused for this reason (another process may have given a field its
   * type in the meantime, or taken the last room); undefined when nothing is left to change. With the index's name
   * coercion remembers the lesson for the documents that follow.
   */
  repair(text: string, failure: { readonly reason: string }, index?: string): string | undefined;
}

export function createMappingCoercion(options: MappingCoercionOptions): MappingCoercion {
  const reserved = options.reserved ?? standardFields;
  const tables = new Map<string, FieldTable>();
  const tableOf = (index: string): FieldTable => {
    let table = tables.get(index);
    if (table === undefined) {
      table = createFieldTable(reserved);
      tables.set(index, table);
    }
    return table;
  };
  return {
    coerce: (index, document) => fitInto(tableOf(index), document, options.maxFields),
    prepare: async (index, load) => {
      const table = tableOf(index);
      if (!table.stale) return;
      for (const [name, type] of await load(index)) if (!reserved.has(name)) table.types.set(name, type);
      table.stale = false;
    },
    forget: (index) => {
      tables.delete(index);
    },
    repair: (text, failure, index) =>
      repair(
        index === undefined ? createFieldTable(reserved) : tableOf(index),
        text,
        failure.reason,
        options.maxFields,
      ),
  };
}

function fitInto(table: FieldTable, document: LogDocument, maxFields: number): string {
  if (!fits(table.types, document)) return adjust(table, document, { maxFields, evict: noFields });
  const text = JSON.stringify(document);
  /** So are lone halves of surrogate pairs written, which stores refuse. */
  return text.includes('\\ud') ? adjust(table, document, { maxFields, evict: noFields }) : text;
}

const noFields: ReadonlySet<string> = new Set();

/** True when every field is known and its value goes there as it is: the common case, without a copy. */
function fits(types: ReadonlyMap<string, FieldType>, document: LogDocument): boolean {
  for (const name in document) {
    const value = document[name];
    if (value === undefined) continue;
    const type = types.get(name);
    if (typeof value === 'string') {
      if (type === 'text') continue;
      if (type === 'string' || type === 'boolean' ? value.length <= maxIndexedLength : type === 'time' && isTime(value))
        continue;
    } else if (typeof value === 'number') {
      if ((type === 'number' || type === 'string' || type === 'boolean') && Number.isFinite(value)) continue;
    } else if (typeof value === 'boolean') {
      if (type === 'string' || type === 'boolean') continue;
    } else if (Array.isArray(value) && type === 'string') continue;
    return false;
  }
  return true;
}

/** The field that a reason of a store names in brackets or quotes, and perhaps its type. */
const namedField =
  /(?:field(?: name)?|column|object mapping for)\W{0,3}["[']([^"\]']{1,256})["\]'](?: of type \[(\w+)\])?/i;
const noRoom = /total fields|too many fields/i;
const numberTypes: ReadonlySet<string> = new Set(['double', 'float', 'long', 'integer']);

function repair(table: FieldTable, text: string, reason: string, maxFields: number): string | undefined {
  const document = parseDocument(text);
  if (document === undefined) return undefined;
  const [, field, type] = namedField.exec(reason) ?? [];
  if (noRoom.test(reason)) forgetNewFields(table, document);
  else if (field !== undefined && numberTypes.has(type ?? '') && !standardFields.has(field))
    table.types.set(field, 'number');
  const again = adjust(table, document, { maxFields, evict: noFields });
  if (again !== text) return again;
  const movable = Object.keys(document).filter((name) => !standardFields.has(name));
  const evict = new Set(field !== undefined && movable.includes(field) ? [field] : movable);
  return evict.size === 0 ? undefined : adjust(table, document, { maxFields, evict });
}

/**
 * Which of the document's fields the index lacks is not said: none is taken for known until the store has been asked.
 */
function forgetNewFields(table: FieldTable, document: LogDocument): void {
  table.full = true;
  table.stale = true;
  for (const name of Object.keys(document)) if (!standardFields.has(name)) table.types.delete(name);
}

function parseDocument(text: string): LogDocument | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LogDocument) : undefined;
  } catch {
    return undefined;
  }
}
