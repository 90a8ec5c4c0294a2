/** The order of a search as the command line and the API give it. */
import type { SortOrder } from '../contract.js';
import { searchErrors } from '../errors.js';

/** `field`, `field:asc` or `field:desc`, in any case. Throws SEARCH_SORT_ORDER. */
export function readSort(text: string, place: string): SortOrder {
  const [, field, direction = 'desc'] = /^(.+?)(?::(asc|desc))?$/is.exec(text) ?? [];
  if (field === undefined || /:\w*$/.test(field))
    throw searchErrors.create('SEARCH_SORT_ORDER', {
      place,
      got: JSON.stringify(text),
      allowed: 'field:asc or field:desc',
    });
  return { field, direction: direction.toLowerCase() === 'asc' ? 'asc' : 'desc' };
}
