/** Tests of one field's values as SQL, wherever the values of that field lie. */
import { maxKnownFields, type Field, type FieldTable } from '../files/fields.js';

/**
 * A test of a single value. Each member makes a condition from an expression of that SQL type; a value of a type
 * without a member does not match. Conditions may be NULL, which counts as false.
 */
export interface ValueTest {
  readonly text?: (value: string) => string;
  readonly number?: (value: string) => string;
  readonly boolean?: (value: string) => string;
  /** On milliseconds; takes the place of all the others for a field that holds times. */
  readonly time?: (value: string) => string;
  /** On the JSON text of a list of strings, when that can be decided without taking it apart. */
  readonly list?: (value: string) => string;
  /** Numbers and booleans are tested as the text they read as. */
  readonly anyAsText?: boolean;
}

/** Values never become SQL text. A condition that is left out of the statement leaves its values out too. */
export class SqlParameters {
  readonly #values: string[] = [];

  text(value: string): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  /** The finished statement with its parameters numbered anew, and the values of those. */
  statement(sql: string): { sql: string; values: string[] } {
    const numbers = new Map<string, number>();
    const values: string[] = [];
    const numbered = sql.replace(/\$(\d+)/g, (_, place: string) => {
      let number = numbers.get(place);
      if (number === undefined) {
        number = values.push(this.#values[Number(place) - 1] ?? '');
        numbers.set(place, number);
      }
      return `$${number}`;
    });
    return { sql: numbered, values };
  }
}

export function numberSql(value: number): string {
  return `(${value})::DOUBLE`;
}

/** True for any document of which one value of this field passes. */
export function fieldSql(fields: FieldTable, name: string, test: ValueTest, parameters: SqlParameters): string {
  if (name === '_id') return test.text?.('_id') ?? 'false';
  const field = fields.get(name);
  const parts: string[] = [];
  if (field?.slot !== undefined) parts.push(columnSql(field, test, parameters));
  const complete = field?.kind === 'time' && test.time !== undefined;
  if (!complete && mayBeInOtherFields(fields, field)) parts.push(otherFieldsSql(name, test, parameters));
  const useful = parts.filter((part) => part !== 'false');
  return useful.length === 0 ? 'false' : `(${useful.join(' OR ')})`;
}

export function mayBeInOtherFields(fields: FieldTable, field: Field | undefined): boolean {
  return field === undefined ? fields.size >= maxKnownFields : field.spills;
}

/** Every value of the field is a text in its column. */
export function isPlainText(fields: FieldTable, name: string): boolean {
  const field = fields.get(name);
  return (
    field?.slot !== undefined &&
    !mayBeInOtherFields(fields, field) &&
    (field.kind === 'text' || field.kind === 'string')
  );
}

/** Path into the JSON of `other_fields` (RFC 6901). */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * What `other_fields` contains when the field is in it, and now and then when it is not: much cheaper than reading the
 * JSON.
 */
export function keyText(name: string): string {
  return `${JSON.stringify(name)}:`;
}

function timeTextSql(column: string): string {
  return `strftime(epoch_ms(CAST(${column} AS BIGINT)), '%Y-%m-%dT%H:%M:%S.%gZ')`;
}

function columnSql(field: Field, test: ValueTest, parameters: SqlParameters): string {
  const column = `c${field.slot}`;
  switch (field.kind) {
    case 'text':
    case 'string':
      return test.text?.(column) ?? 'false';
    case 'number':
      return (test.anyAsText ? test.text?.(`CAST(${column} AS VARCHAR)`) : test.number?.(column)) ?? 'false';
    case 'boolean':
      return (test.anyAsText ? test.text?.(`CAST(${column} AS VARCHAR)`) : test.boolean?.(column)) ?? 'false';
    case 'list':
      return (
        test.list?.(column) ??
        (test.text === undefined ? 'false' : anyMember(`json_extract_string(${column}, '$[*]')`, test.text('m')))
      );
    case 'time':
      return test.time?.(column) ?? timeAsText(field, column, test, parameters);
  }
}

/** Where the value is not in canonical form, the column has its time and `other_fields` its text. */
function timeAsText(field: Field, column: string, test: ValueTest, parameters: SqlParameters): string {
  if (test.text === undefined) return 'false';
  const matches = `(${column} IS NOT NULL AND ${test.text(timeTextSql(column))})`;
  if (!field.spills) return matches;
  return `(${matches} AND NOT coalesce(json_exists(other_fields, ${parameters.text(pointerTo(field.name))}), false))`;
}

function anyMember(list: string, condition: string): string {
  return `len(list_filter(${list}, lambda m: coalesce(${condition}, false))) > 0`;
}

function otherFieldsSql(name: string, test: ValueTest, parameters: SqlParameters): string {
  const path = parameters.text(pointerTo(name));
  const asText = `json_extract_string(m, '$')`;
  const byText = test.text?.(asText) ?? 'false';
  const byNumber = test.anyAsText ? byText : (test.number?.(`TRY_CAST(${asText} AS DOUBLE)`) ?? 'false');
  const byBoolean = test.anyAsText ? byText : (test.boolean?.(`(${asText} = 'true')`) ?? 'false');
  const condition =
    `CASE json_type(m) WHEN 'VARCHAR' THEN ${byText} WHEN 'BOOLEAN' THEN ${byBoolean}` +
    ` WHEN 'NULL' THEN false WHEN 'OBJECT' THEN false WHEN 'ARRAY' THEN false ELSE ${byNumber} END`;
  const members =
    `CASE WHEN json_type(other_fields, ${path}) = 'ARRAY' THEN CAST(json_extract(other_fields, ${path}) AS JSON[])` +
    ` ELSE [json_extract(other_fields, ${path})] END`;
  return `CASE WHEN contains(other_fields, ${parameters.text(keyText(name))}) THEN ${anyMember(members, condition)} ELSE false END`;
}
