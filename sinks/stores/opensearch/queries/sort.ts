/**
 * The order of hits: numbers before texts before documents without the field, whatever the direction; equal ones by id,
 * then by index. The engine sorts numbers and texts of different indices apart, and has no exact value for a missing
 * one: both are settled here.
 */
import type { SearchAfter, SearchRequest } from '../../../../schemas/query.js';
import type { FieldType } from '../../contract.js';
import { idField } from '../mapping.js';
import type { Clause, TypeOf } from './query.js';

type Sort = NonNullable<SearchRequest['sort']>;
type SortValue = string | number | null;

export interface RawHit {
  readonly _id: string;
  readonly _index: string;
  readonly _source?: Record<string, unknown>;
  readonly sort: readonly (SortValue | bigint)[];
}

export const defaultSort: Sort = { field: 'timestamp', direction: 'desc' };

const unmappedTypes: Readonly<Record<FieldType, string>> = {
  text: 'keyword',
  string: 'keyword',
  number: 'double',
  boolean: 'keyword',
  time: 'date',
};
/** What the engine's date can be; its stand-ins for a missing one lie beyond. */
const largestTime = 8.64e15;

function sortClauses({ field, direction }: Sort, typeOf: TypeOf): Clause[] {
  const ties = [{ [idField]: { order: direction } }, { _index: { order: direction } }];
  return field === '_id'
    ? ties
    : [{ [field]: { order: direction, unmapped_type: unmappedTypes[typeOf(field) ?? 'string'] } }, ...ties];
}

/** Sort, place and filter of a request for what comes after this document. */
export function pageClauses(sort: Sort, after: SearchAfter | undefined, typeOf: TypeOf): Clause {
  const { field, direction } = sort;
  if (after === undefined) return { sort: sortClauses(sort, typeOf) };
  const lastIndex = direction === 'asc' ? '\u{10ffff}' : '';
  const ties = [after.id, after.index ?? lastIndex];
  if (field === '_id') return { sort: sortClauses(sort, typeOf), search_after: ties };
  const type = typeOf(field);
  const isNumber = type === 'number' || type === 'time';
  const value = type === 'time' && typeof after.sortValue === 'string' ? Date.parse(after.sortValue) : after.sortValue;
  if (value === null || (typeof value === 'string' && isNumber)) {
    // The filter takes nothing away from the total: an aggregation counts it.
    const missing = {
      post_filter: { bool: { must_not: [{ exists: { field } }] } },
      aggs: { total: { filter: { match_all: {} } } },
    };
    return {
      ...missing,
      sort: sortClauses({ ...sort, field: '_id' }, typeOf),
      ...(value === null ? { search_after: ties } : {}),
    };
  }
  const before = typeof value === 'number' && !isNumber && type !== undefined;
  return { sort: sortClauses(sort, typeOf), ...(before ? {} : { search_after: [value, ...ties] }) };
}

export function placeOf(hit: RawHit, { field }: Sort, typeOf: TypeOf): SearchAfter {
  const place = { id: hit._id, index: hit._index };
  if (field === '_id') return { sortValue: hit._id, ...place };
  const value = hit.sort.length < 3 ? null : (hit.sort[0] ?? null);
  const type = typeOf(field);
  if (type !== 'number' && type !== 'time') return { sortValue: value === null ? null : String(value), ...place };
  const number = value === null ? NaN : Number(value);
  return {
    sortValue: Number.isFinite(number) && (type === 'number' || Math.abs(number) <= largestTime) ? number : null,
    ...place,
  };
}
