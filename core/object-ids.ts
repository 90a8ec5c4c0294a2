/**
 * The two names of an object: the id that rule files know, and the 24 hexadecimal characters that the API shows.
 * Look-ups take both.
 */
import { createHash } from 'node:crypto';

/** As every peer has it; scripts name it. */
const allMessages = { id: 'all-messages', apiId: '000000000000000000000001' } as const;

export function apiIdOf(id: string): string {
  if (id === allMessages.id) return allMessages.apiId;
  return createHash('sha256').update(id).digest('hex').slice(0, 24);
}

/** The id among these that either name means. An id that looks like the other form of another one comes first. */
export function findId(ids: Iterable<string>, name: string): string | undefined {
  let found: string | undefined;
  for (const id of ids) {
    if (id === name) return id;
    if (apiIdOf(id) === name) found = id;
  }
  return found;
}
