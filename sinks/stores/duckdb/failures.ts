/** What the engine's errors mean for the caller. */
import { isSluiceError, toError } from '../../../core/errors.js';
import { storeErrors } from '../errors.js';

type StoreCode = keyof typeof storeErrors.kinds;

export function isStoreCode(code: string): code is StoreCode {
  return code in storeErrors.kinds;
}

/** The engine's client throws plain errors: no type, no code. These are the only words of its messages that we read. */
const engineWords = {
  fatal: /database has been invalidated|FATAL Error/i,
  /** Its limit of memory; the operation failed, the engine goes on. */
  outOfMemory: /Out of Memory|failed to (?:pin|allocate)/i,
  /** Where in its work it failed: while changes went to the file. */
  inCommit: /Failed to commit|checkpoint/i,
  diskFull: /No space left|ENOSPC|disk (is )?full|quota exceeded/i,
  /** Neither the question nor the data are wrong: the file could not be read, or somebody stopped the query. */
  interrupted: /Connection|IO Error|interrupt/i,
} as const;

function says(words: keyof typeof engineWords, message: string): boolean {
  return engineWords[words].test(message);
}

/** The engine refuses everything from here on; it must be opened anew. */
export function isFatal(thrown: unknown): boolean {
  return says('fatal', toError(thrown).message);
}

/**
 * A commit that ran out of memory has left the engine, and the heap that it shares with the whole process, in a state
 * that nobody knows: it could write what is wrong to a file. Ends the thread, and with it the program; throws, so that
 * nothing more is done with the engine until then. What was not acknowledged comes again.
 */
export function endIfDamaged(thrown: unknown): void {
  const { message } = toError(thrown);
  if (!says('outOfMemory', message) || !says('inCommit', message)) return;
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
  if (says('diskFull', message)) return 'STORE_DISK_FULL';
  if (says('outOfMemory', message)) return 'STORE_OVERLOADED';
  return says('fatal', message) ? 'STORE_UNAVAILABLE' : 'STORE_INDEX_BLOCKED';
}

export function searchError(thrown: unknown): Error {
  if (isSluiceError(thrown)) return thrown;
  const message = toError(thrown).message;
  if (says('fatal', message) || says('interrupted', message))
    return storeError('STORE_UNAVAILABLE', 'search', shorten(message));
  return storeError(
    says('outOfMemory', message) ? 'STORE_OVERLOADED' : 'STORE_QUERY_INVALID',
    'search',
    shorten(message),
  );
}

export function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
