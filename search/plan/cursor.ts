/** The opaque position of a page: after which message, in which order. */
import type { SearchAfter } from '../../schemas/query.js';
import type { SortOrder } from '../contract.js';
import { searchErrors } from '../errors.js';

export const newestFirst: SortOrder = { field: 'timestamp', direction: 'desc' };

export function writeCursor(place: SearchAfter, sort: SortOrder): string {
  return Buffer.from(
    JSON.stringify([sort.field, sort.direction, place.sortValue, place.id, place.index ?? null]),
  ).toString('base64url');
}

/** Throws SEARCH_CURSOR_INVALID for a text that no page of this order has given. */
export function readCursor(text: string, sort: SortOrder): SearchAfter {
  const refuse = (got: string): never => {
    throw searchErrors.create('SEARCH_CURSOR_INVALID', {
      place: 'after',
      got,
      allowed: '`next` of an answer to the same query in the same order',
    });
  };
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return refuse('a text that is none');
  }
  if (!Array.isArray(parts) || parts.length !== 5) return refuse('a text that is none');
  const [field, direction, sortValue, id, index] = parts as unknown[];
  if (field !== sort.field || direction !== sort.direction) return refuse('one of another order');
  const isValue = sortValue === null || typeof sortValue === 'string' || typeof sortValue === 'number';
  if (!isValue || typeof id !== 'string' || !(index === null || typeof index === 'string'))
    return refuse('a text that is none');
  return { sortValue, id, ...(index === null ? {} : { index }) };
}
