/**
 * What a query that can be read will hardly find anything with: fields that no index has, values that a field of its
 * type never holds.
 */
import { readNumber } from '../../core/values.js';
import { standardFields } from '../../schemas/index-fields.js';
import type { FieldTypes, FieldType, QueryWarning } from '../contract.js';
import { partnerOf } from './leaves.js';
import type { LocatedQuery } from './parser.js';
import type { Clause } from './tree.js';

/**
 * Names each unknown field once. The query was parsed without aliases, since one known name of two suffices.
 * Warns of nothing when no types are known: nothing is stored, or nothing may be read.
 */
export function queryWarnings({ spans }: LocatedQuery, types: FieldTypes): readonly QueryWarning[] {
  if (types.size === 0) return [];
  const typeOf = (name: string | undefined): FieldType | undefined =>
    name === undefined ? undefined : name === '_id' ? 'string' : (types.get(name) ?? standardFields.get(name));
  const unknown = new Map<string, QueryWarning>();
  const values: QueryWarning[] = [];
  for (const [node, { whole, value, name }] of spans) {
    const clause = node as Clause;
    const { field } = clause;
    if (field === undefined || unknown.has(field)) continue;
    const type = typeOf(field) ?? typeOf(partnerOf(field));
    if (type === undefined)
      unknown.set(field, {
        kind: 'field',
        field,
        span: clause.kind === 'exists' ? whole : (name ?? whole),
        message: `${field}: No index has this field.`,
      });
    else if (!canHold(type, clause))
      values.push({
        kind: 'value',
        field,
        span: value,
        message: `${field}: The field holds ${type === 'number' ? 'numbers' : 'true and false'}, which this value never matches. Allowed: ${type === 'number' ? 'a number, or a range with numbers' : 'true or false'}.`,
      });
  }
  return [...unknown.values(), ...values].sort((left, right) => left.span.start - right.span.start);
}

function canHold(type: FieldType, clause: Clause): boolean {
  if (type !== 'number' && type !== 'boolean') return true;
  switch (clause.kind) {
    case 'exists':
      return true;
    case 'term':
    case 'phrase':
      return type === 'number'
        ? readNumber(clause.text) !== undefined
        : clause.text === 'true' || clause.text === 'false';
    case 'range':
      return (
        type === 'number' && [clause.from, clause.to].every((end) => end === undefined || typeof end.value === 'number')
      );
    default:
      return false;
  }
}
