/**
 * An error on its way to another process of this program: what a command, or the primary process of workers, needs of
 * it.
 */
import { isSluiceError, SluiceError, toError } from '../errors.js';

export interface ToldError {
  /** Its code: ours, or the system's for an error of Node. INTERNAL where there is none. */
  readonly type: string;
  readonly message: string;
  /** Absent: 1. */
  readonly exit_code?: 2;
}

export function tellError(thrown: unknown): ToldError {
  const error = toError(thrown);
  if (isSluiceError(error))
    return { type: error.code, message: error.message, ...(error.exitCode === 2 ? { exit_code: error.exitCode } : {}) };
  return { type: 'code' in error ? String(error.code) : 'INTERNAL', message: error.message };
}

export function toldError({ type, message, exit_code: exitCode }: ToldError): SluiceError {
  const kind = { retryable: false, summary: message, ...(exitCode === undefined ? {} : { exitCode }) };
  return new SluiceError(type, kind, {});
}
