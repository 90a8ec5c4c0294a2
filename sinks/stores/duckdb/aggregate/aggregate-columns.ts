/** The values of a field as SQL columns by type, for grouping and counting. */
import type { Field, FieldTable } from '../files/fields.js';
import { keyText, mayBeInOtherFields, pointerTo, type SqlParameters } from '../sql/value-sql.js';

/**
 * Expressions of type DOUBLE, VARCHAR and BOOLEAN; at most one of them is not NULL in a row. Absent: NULL in every row.
 */
export interface KeyColumns {
  readonly number?: string | undefined;
  readonly text?: string | undefined;
  readonly boolean?: string | undefined;
  /** Type VARCHAR[], instead of the others. */
  readonly list?: string | undefined;
}

export function keyColumns(fields: FieldTable, name: string, parameters: SqlParameters): KeyColumns {
  if (name === '_id') return { text: '_id' };
  const field = fields.get(name);
  const own = field?.slot === undefined ? {} : columnKeys(field, `c${field.slot}`);
  if (own.list !== undefined || field?.kind === 'time' || !mayBeInOtherFields(fields, field)) return own;
  const other = otherKeys(name, parameters);
  return {
    number: either(own.number, other.number),
    text: either(own.text, other.text),
    boolean: either(own.boolean, other.boolean),
  };
}

function either(first: string | undefined, second: string | undefined): string | undefined {
  return first === undefined || second === undefined ? (first ?? second) : `coalesce(${first}, ${second})`;
}

function columnKeys(field: Field, column: string): KeyColumns {
  switch (field.kind) {
    case 'number':
    case 'time':
      return { number: column };
    case 'boolean':
      return { boolean: column };
    case 'list':
      return { list: `coalesce(from_json(${column}, '["VARCHAR"]'), [])` };
    case 'text':
    case 'string':
      return { text: field.name === 'source' ? `lower(${column})` : column };
  }
}

function otherKeys(name: string, parameters: SqlParameters): KeyColumns {
  const path = parameters.text(pointerTo(name));
  const type = `CASE WHEN contains(other_fields, ${parameters.text(keyText(name))}) THEN json_type(other_fields, ${path}) END`;
  const text = `json_extract_string(other_fields, ${path})`;
  return {
    number: `CASE WHEN ${type} IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN TRY_CAST(${text} AS DOUBLE) END`,
    text: `CASE WHEN ${type} = 'VARCHAR' THEN ${text} END`,
    boolean: `CASE WHEN ${type} = 'BOOLEAN' THEN ${text} = 'true' END`,
  };
}
