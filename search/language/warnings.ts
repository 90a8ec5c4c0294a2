/** What a query that can be read will hardly find anything with: fields that no index has, values that a field of its type never holds. */
import { readNumber } from '../../core/values.js';
import { standardFields } from '../../schemas/index-fields.js';
import type { FieldTypes } from '../run/known-fields.js';
import { partnerOf } from './leaves.js';
import type { PlacedQuery } from './parser.js';
import type { Place } from './problem.js';
import type { SearchFieldType } from '../store.js';
import type { Clause } from './tree.js';

export interface QueryWarning {
  readonly kind: 'field' | 'value';
  readonly field: string;
  readonly place: Place;
  readonly message: string;
}

/** Each field that is not known once. A query that was parsed without aliases: one name of two suffices. No types at all (nothing is stored, or nothing may be read): nothing to warn of. */
export function queryWarnings({ places }: PlacedQuery, types: FieldTypes): readonly QueryWarning[] {
  if (types.size === 0) return [];
  const typeOf = (name: string | undefined): SearchFieldType | undefined =>
    name === undefined ? undefined : name === '_id' ? 'string' : (types.get(name) ?? standardFields.get(name));
  const unknown = new Map<string, QueryWarning>();
  const values: QueryWarning[] = [];
  for (const [node, { whole, value, name }] of places) {
    const clause = node as Clause;
    const { field } = clause;
    if (field === undefined || unknown.has(field)) continue;
    const type = typeOf(field) ?? typeOf(partnerOf(field));
    if (type === undefined)
      unknown.set(field, {
        kind: 'field',
        field,
        place: clause.kind === 'exists' ? whole : (name ?? whole),
        message: `${field}: No index has this field.`,
      });
    else if (!canHold(type, clause))
      values.push({
        kind: 'value',
        field,
        place: value,
        message: `${field}: The field holds ${type === 'number' ? 'numbers' : 'true and false'}, which this value never matches. Allowed: ${type === 'number' ? 'a number, or a range with numbers' : 'true or false'}.`,
      });
  }
  return [...unknown.values(), ...values].sort((left, right) => left.place.start - right.place.start);
}

function canHold(type: SearchFieldType, clause: Clause): boolean {
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
