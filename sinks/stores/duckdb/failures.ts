/** What the engine's errors mean for the caller. */
import { isSluiceError, toError } from '../../../core/errors.js';
import { storeErrors } from '../errors.js';

type StoreCode = keyof typeof storeErrors.kinds;

export function isStoreCode(code: string): code is StoreCode {
  return code in storeErrors.kinds;
}

/** The engine refuses everything from here on; it must be opened anew. */
export function isFatal(thrown: unknown): boolean {
  return /database has been invalidated|FATAL Error/i.test(toError(thrown).message);
}

const outOfMemory = /Out of Memory|failed to (?:pin|allocate)/i;

/**
 * A commit that ran out of memory has left the engine, and the heap that it shares with the whole process, in a state
 * that nobody knows: it could write what is wrong to a file. Ends the thread, and with it the program; throws, so that
 * nothing more is done with the engine until then. What was not acknowledged comes again.
 */
export function endIfDamaged(thrown: unknown): void {
  const { message } = toError(thrown);
  if (!outOfMemory.test(message) || !/Failed to commit|checkpoint/i.test(message)) return;
  const error = new Error(
    `the engine ran out of memory in a commit (setting store.embedded.memory_bytes): ${shorten(message)}`,
  );
  setImmediate(() => {
    throw error;
  });
  throw storeError('STORE_UNAVAILABLE', 'embedded store', error.message);
}

export function storeError(code: StoreCode, place: string, reason?: string): Error {
  return storeErrors.create(code, { place, got: reason });
}

export function writeError(thrown: unknown, index: string): Error {
  return isSluiceError(thrown)
    ? thrown
    : storeError(writeCode(toError(thrown).message), index, shorten(toError(thrown).message));
}

function writeCode(message: string): StoreCode {
  if (/No space left|ENOSPC|disk (is )?full|quota exceeded/i.test(message)) return 'STORE_DISK_FULL';
  if (outOfMemory.test(message)) return 'STORE_OVERLOADED';
  return isFatal(new Error(message)) ? 'STORE_UNAVAILABLE' : 'STORE_INDEX_BLOCKED';
}

export function searchError(thrown: unknown): Error {
  if (isSluiceError(thrown)) return thrown;
  const message = toError(thrown).message;
  if (isFatal(thrown) || /Connection|IO Error|interrupt/i.test(message))
    return storeError('STORE_UNAVAILABLE', 'search', shorten(message));
  return storeError(outOfMemory.test(message) ? 'STORE_OVERLOADED' : 'STORE_QUERY_INVALID', 'search', shorten(message));
}

export function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
