import type { FieldType } from '../stores/contract.js';

/** The fields that one index knows. */
export interface FieldTable {
  readonly types: Map<string, FieldType>;
  /** No new field: the index said so. */
  full: boolean;
  /** What the store knows is to be read (again). */
  stale: boolean;
}

export function createFieldTable(types: ReadonlyMap<string, FieldType>): FieldTable {
  return { types: new Map(types), full: false, stale: true };
}
