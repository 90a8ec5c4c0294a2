/** Sort order as SQL: numbers, then texts, then documents without the field; equal ones by id. */
import { compareCodePoints } from '../../../../core/values.js';
import type { SearchAfter, SearchRequest } from '../../../../schemas/query.js';
import type { FieldTable } from '../files/fields.js';
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
      return {
        number: `coalesce(${column}, ${other.number})`,
        text: `CASE WHEN ${column} IS NULL THEN ${other.text} END`,
      };
    case 'string':
    case 'text':
    case 'boolean': {
      const text = `coalesce(CAST(${column} AS VARCHAR), ${other.text})`;
      return {
        number: `CASE WHEN ${column} IS NULL THEN ${other.number} END`,
        text: name === 'source' ? `lower(${text})` : text,
      };
    }
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

/** A column that is NULL everywhere is left out: the engine would sort by it all the same, at ten times the cost. */
export function orderSql(direction: 'asc' | 'desc', columns: SortColumns): string {
  const number = columns.number === nothing.number ? '' : `sort_number ${direction} NULLS LAST, `;
  const text = columns.text === nothing.text ? '' : `sort_text ${direction} NULLS LAST, `;
  return `${number}${text}_id ${direction}`;
}

/**
 * What `afterSql` implies for the column of a time, in terms that let the engine pass by whole stretches of the file;
 * empty for other columns.
 */
export function boundSql(
  fields: FieldTable,
  sort: NonNullable<SearchRequest['sort']>,
  after: SearchAfter | undefined,
): string {
  const field = fields.get(sort.field);
  const value =
    after === undefined || after.sortValue === null || field?.kind !== 'time' ? undefined : readTime(after.sortValue);
  if (field?.slot === undefined || value === undefined) return '';
  return ` AND (c${field.slot} ${sort.direction === 'asc' ? '>=' : '<='} ${numberSql(value)} OR c${field.slot} IS NULL)`;
}

/**
 * Strictly after the given place, in terms of the columns `sort_number`, `sort_text` and `_id` of the index with this
 * name.
 */
export function afterSql(
  sort: NonNullable<SearchRequest['sort']>,
  after: SearchAfter,
  index: string,
  parameters: SqlParameters,
): string {
  const beyond = sort.direction === 'asc' ? '>' : '<';
  const isTime = sort.field === 'timestamp' || sort.field === 'receive_time';
  const value = isTime && after.sortValue !== null ? readTime(after.sortValue) : after.sortValue;
  const sameIdToo =
    after.index !== undefined &&
    (sort.direction === 'asc' ? compareCodePoints(index, after.index) > 0 : compareCodePoints(index, after.index) < 0);
  const byId = `_id ${beyond}${sameIdToo ? '=' : ''} ${parameters.text(after.id)}`;
  if (value === null) return `(sort_number IS NULL AND sort_text IS NULL AND ${byId})`;
  if (typeof value === 'number') {
    const number = numberSql(value);
    return `(sort_number ${beyond} ${number} OR (sort_number = ${number} AND ${byId}) OR sort_number IS NULL)`;
  }
  const text = parameters.text(String(value));
  return `(sort_number IS NULL AND (sort_text ${beyond} ${text} OR (sort_text = ${text} AND ${byId}) OR sort_text IS NULL))`;
}
