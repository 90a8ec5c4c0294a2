/** Sort order as SQL: numbers, then texts, then documents without the field; equal ones by id. */
import type { SearchRequest } from '../../../schemas/query.js';
import type { FieldTable } from './fields.js';
import { readTime } from './times.js';
import { keyText, mayBeInOtherFields, numberSql, pointerTo, type SqlParameters } from './value-sql.js';

export interface SortColumns {
  /** Expression of type DOUBLE, and one of type VARCHAR; at most one of them is not NULL. */
  readonly number: string;
  readonly text: string;
}

const nothing = { number: 'NULL::DOUBLE', text: 'NULL::VARCHAR' };

export function sortColumns(fields: FieldTable, name: string, parameters: SqlParameters): SortColumns {
  if (name === '_id') return { ...nothing, text: '_id' };
  const field = fields.get(name);
  const column = field?.slot === undefined ? undefined : `c${field.slot}`;
  if (column !== undefined && field?.kind === 'time') return { ...nothing, number: column };
  const other = mayBeInOtherFields(fields, field) ? otherColumns(name, parameters) : nothing;
  switch (column === undefined ? undefined : field?.kind) {
    case 'number':
      return { number: `coalesce(${column}, ${other.number})`, text: `CASE WHEN ${column} IS NULL THEN ${other.text} END` };
    case 'string':
    case 'text':
    case 'boolean':
      return { number: `CASE WHEN ${column} IS NULL THEN ${other.number} END`, text: `coalesce(CAST(${column} AS VARCHAR), ${other.text})` };
    default:
      return other;
  }
}

function otherColumns(name: string, parameters: SqlParameters): SortColumns {
  const path = parameters.text(pointerTo(name));
  const key = parameters.text(keyText(name));
  const type = `CASE WHEN contains(other_fields, ${key}) THEN json_type(other_fields, ${path}) END`;
  const text = `json_extract_string(other_fields, ${path})`;
  return {
    number: `CASE WHEN ${type} IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST(${text} AS DOUBLE) END`,
    text: `CASE WHEN ${type} IN ('VARCHAR', 'BOOLEAN') THEN ${text} END`,
  };
}

export function orderSql(direction: 'asc' | 'desc'): string {
  return `sort_number ${direction} NULLS LAST, sort_text ${direction} NULLS LAST, _id ${direction}`;
}

/** Strictly after the given document, in terms of the columns `sort_number`, `sort_text` and `_id`. */
export function afterSql(sort: NonNullable<SearchRequest['sort']>, after: NonNullable<SearchRequest['after']>, parameters: SqlParameters): string {
  const beyond = sort.direction === 'asc' ? '>' : '<';
  const id = parameters.text(after.id);
  const isTime = sort.field === 'timestamp' || sort.field === 'receive_time';
  const value = isTime ? readTime(after.sortValue) : after.sortValue;
  if (typeof value === 'number') {
    const number = numberSql(value);
    return `(sort_number ${beyond} ${number} OR (sort_number = ${number} AND _id ${beyond} ${id}) OR sort_number IS NULL)`;
  }
  const text = parameters.text(String(value));
  return `(sort_number IS NULL AND (sort_text ${beyond} ${text} OR (sort_text = ${text} AND _id ${beyond} ${id}) OR sort_text IS NULL))`;
}
