/** The order of messages as bodies give it: `[{field, order}]`. */
import { failure } from '../failure.js';

interface MessageSort {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

const directions: Readonly<Record<string, MessageSort['direction']>> = {
  asc: 'asc',
  ascending: 'asc',
  desc: 'desc',
  descending: 'desc',
};

/** Undefined: newest first. Throws where something would be left out silently. */
export function messageSort(
  keys: readonly Readonly<Record<string, unknown>>[] | null | undefined,
): MessageSort | undefined {
  const [first, ...others] = keys ?? [];
  if (first === undefined) return undefined;
  if (others.length > 0)
    throw unreadable(
      'sort',
      `${others.length + 1} of them`,
      'one field; messages that are equal there stand in the order of their ids',
    );
  const { field, order = 'DESC' } = first;
  if (typeof field !== 'string' || field === '') throw unreadable('sort[0].field', shown(field), 'the name of a field');
  const direction = typeof order === 'string' ? directions[order.toLowerCase()] : undefined;
  if (direction === undefined) throw unreadable('sort[0].order', shown(order), 'ASC, DESC');
  return { field, direction };
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100);

function unreadable(place: string, got: string, allowed: string): Error {
  return failure('API_VALUE_INVALID', `${place}: The order cannot be read. Got ${got}. Allowed: ${allowed}.`, {
    body: { path: place },
  });
}
