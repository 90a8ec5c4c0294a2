/** Which fields an index knows, and where their values lie: in a column of their own, or in `other_fields`. */
import type { FieldType } from '../../contract.js';

/**
 * What a column holds. `time`: milliseconds, of values in canonical form; `list`: a list of strings as JSON text;
 * `text`: as `string`, cut into words by queries.
 */
export type FieldKind = 'text' | 'string' | 'number' | 'boolean' | 'time' | 'list';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** Column `c<slot>`; undefined: in `other_fields` only. */
  readonly slot: number | undefined;
  /** Some documents have this field in `other_fields`: they came before the column, or the value does not fit it. */
  spills: boolean;
}

export type FieldTable = Map<string, Field>;

/** Every index has these columns from the start, in this order. */
export const baseFields: readonly (readonly [name: string, kind: FieldKind])[] = [
  ['timestamp', 'time'],
  ['receive_time', 'time'],
  ['message', 'text'],
  ['full_message', 'text'],
  ['source', 'string'],
  ['level', 'number'],
  ['facility', 'string'],
  ['receiver', 'string'],
  ['peer_address', 'string'],
  ['streams', 'list'],
  ['adjustments', 'list'],
];

/**
 * More columns make checkpoints need too much memory (measured: 2,000 fail in 1.5 GB); the rest goes to `other_fields`.
 */
export const maxColumns = 200;
/** Field names remembered of one index. Beyond, every unknown name is looked for in `other_fields`. */
export const maxKnownFields = 5000;

const columnTypes: Record<FieldKind, string> = {
  text: 'VARCHAR USING COMPRESSION zstd',
  string: 'VARCHAR',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'DOUBLE',
  list: 'VARCHAR',
};

export function columnDefinition(slot: number, kind: FieldKind): string {
  return `c${slot} ${columnTypes[kind]}`;
}

export function fieldType(kind: FieldKind): FieldType {
  return kind === 'list' ? 'string' : kind;
}

/** Kind of the column that a value would need; undefined when none would hold it. */
export function kindOf(value: unknown): FieldKind | undefined {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value as 'string' | 'number' | 'boolean';
    default:
      return isTextList(value) ? 'list' : undefined;
  }
}

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}
