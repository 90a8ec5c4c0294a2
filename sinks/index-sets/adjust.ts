/** The slow path of mapping coercion: a changed copy of a document, and notes of what was changed. */
import { maxIndexedLength, standardFields, tooLongNote } from '../../schemas/index-fields.js';
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import type { FieldType } from '../stores/contract.js';
import type { FieldTable } from './field-table.js';
import { isTime, normalizeTime } from './times.js';

/** A document with thousands of odd fields would otherwise carry as many notes. */
const maxNotes = 50;
/** Longer names make mappings unreadable, and are data more often than names. */
const maxNameLength = 256;
const shownNameLength = 100;
const loneSurrogate = /\p{Surrogate}/u;
const loneSurrogates = /\p{Surrogate}/gu;

function wellFormed(text: string): string {
  return text.replace(loneSurrogates, '\ufffd');
}

interface AdjustOptions {
  readonly maxFields: number;
  /** Fields that go to `other_fields` whatever they are. */
  readonly evict: ReadonlySet<string>;
}

interface Draft {
  readonly table: FieldTable;
  readonly options: AdjustOptions;
  readonly source: LogDocument;
  readonly result: Record<string, unknown>;
  readonly notes: string[];
  readonly others: string[];
  /** Fields moved because the index takes no more: one note for all. */
  beyondLimit: number;
}

export function adjust(table: FieldTable, document: LogDocument, options: AdjustOptions): string {
  const draft: Draft = {
    table,
    options,
    source: document,
    result: {},
    notes: listOf(document['adjustments']),
    others: listOf(document['other_fields']),
    beyondLimit: 0,
  };
  for (const name of Object.keys(document)) {
    if (name === 'adjustments') draft.result[name] = draft.notes;
    else if (name === 'other_fields') draft.result[name] = draft.others;
    else place(draft, name, document[name]);
  }
  if (draft.beyondLimit > 0)
    note(draft, `${draft.beyondLimit} fields moved to other_fields: the index has no room for more fields`);
  if (draft.notes.length > 0) draft.result['adjustments'] = draft.notes;
  if (draft.others.length > 0) draft.result['other_fields'] = draft.others;
  return JSON.stringify(draft.result);
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function note(draft: Draft, text: string): void {
  if (draft.notes.length < maxNotes && !draft.notes.includes(text)) draft.notes.push(text);
}

function shown(name: string): string {
  return name.length > shownNameLength ? `${name.slice(0, shownNameLength)}…` : name;
}

function place(draft: Draft, name: string, raw: unknown): void {
  if (raw === undefined || raw === null) return;
  const value = valueOf(draft, name, raw);
  if (draft.options.evict.has(name)) return moveToOthers(draft, name, value, 'the index refused it');
  const problem = nameProblem(name);
  if (problem !== undefined) return moveToOthers(draft, name, value, problem);
  const type = draft.table.types.get(name) ?? learn(draft, name, value);
  if (type === undefined) {
    draft.beyondLimit += 1;
    pushOther(draft, name, value);
  } else if (Array.isArray(value)) draft.result[name] = value;
  else placeAs(draft, name, value as FieldValue, type);
}

function placeAs(draft: Draft, name: string, value: FieldValue, type: FieldType): void {
  switch (type) {
    case 'number':
      if (typeof value === 'number' && Number.isFinite(value)) draft.result[name] = value;
      else
        moveToTwin(
          draft,
          name,
          value,
          typeof value === 'boolean' ? 'a boolean in a number field' : 'text in a number field',
        );
      return;
    case 'time':
      return placeTime(draft, name, value);
    case 'text':
      draft.result[name] = String(value);
      return;
    default:
      if (typeof value === 'string' && value.length > maxIndexedLength) note(draft, tooLongNote(shown(name)));
      draft.result[name] = typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  }
}

function placeTime(draft: Draft, name: string, value: FieldValue): void {
  const time = typeof value === 'string' && isTime(value) ? value : normalizeTime(value);
  if (time !== undefined) {
    draft.result[name] = time;
    if (time !== value) note(draft, `${name}: written as UTC, was ${shown(String(value))}`);
    return;
  }
  moveToTwin(draft, name, value, 'not a time of the years 0 to 9999');
  const replacement = name === 'receive_time' ? undefined : normalizeTime(draft.source['receive_time']);
  draft.result[name] = replacement ?? new Date().toISOString();
}

/** The type of a new field; undefined when the index takes no more. */
function learn(draft: Draft, name: string, value: unknown): FieldType | undefined {
  const { types, full } = draft.table;
  if (full || types.size >= draft.options.maxFields) return undefined;
  const type = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'string';
  types.set(name, type);
  return type;
}

function moveToTwin(draft: Draft, name: string, value: FieldValue, why: string): void {
  const twin = `${name}_text`;
  const text = String(value);
  const type = draft.table.types.get(twin) ?? learn(draft, twin, text);
  const taken = draft.source[twin] !== undefined || Object.hasOwn(draft.result, twin);
  if (
    taken ||
    (type !== 'string' && type !== 'boolean') ||
    draft.options.evict.has(twin) ||
    nameProblem(twin) !== undefined
  )
    return moveToOthers(draft, name, value, why);
  note(draft, `${shown(name)}: ${why}, moved to ${shown(twin)}`);
  placeAs(draft, twin, text, type);
}

function moveToOthers(draft: Draft, name: string, value: unknown, why: string): void {
  note(draft, `${shown(name)}: ${why}, moved to other_fields`);
  pushOther(draft, name, value);
}

function pushOther(draft: Draft, name: string, value: unknown): void {
  const entry = `${wellFormed(name)}=${typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : String(value)}`;
  if (entry.length > maxIndexedLength) note(draft, tooLongNote(shown(name)));
  draft.others.push(entry);
}

/** A field value, or a list where documents have lists; anything else becomes JSON text. */
function valueOf(draft: Draft, name: string, raw: unknown): unknown {
  if (typeof raw === 'string') {
    if (!loneSurrogate.test(raw)) return raw;
    note(draft, `${shown(wellFormed(name))}: halves of characters replaced by U+FFFD`);
    return wellFormed(raw);
  }
  if (typeof raw === 'number' || typeof raw === 'boolean') return raw;
  if (Array.isArray(raw) && standardFields.has(name) && raw.every((one) => typeof one === 'string'))
    return raw.map((one: string) => wellFormed(one));
  return JSON.stringify(raw);
}

/** Why an index cannot have a field of this name. A name with a leading underscore is the store's own. */
function nameProblem(name: string): string | undefined {
  if (name === '') return 'a field without a name';
  if (name.length > maxNameLength) return `a name longer than ${maxNameLength} characters`;
  if (name.startsWith('_')) return 'a name that begins with an underscore';
  if (name.startsWith('.') || name.includes('..')) return 'a name with a dot at the beginning or two in a row';
  return loneSurrogate.test(name) ? 'a name with half of a character' : undefined;
}
