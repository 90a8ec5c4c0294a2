/** Which failures of the store speak of one index; all others are a matter of the whole store. */
import { isSluiceError } from '../core/errors.js';

const blockingCodes: ReadonlySet<string> = new Set([
  'STORE_INDEX_BLOCKED',
  'STORE_INDEX_MISSING',
  'STORE_INDEX_CLOSED',
]);

/** The index takes no writes, while others may. */
export const isBlockingCode = (code: string): boolean => blockingCodes.has(code);

export function isBlocking(thrown: unknown): boolean {
  return isSluiceError(thrown) && isBlockingCode(thrown.code);
}
