/** Typed errors on their way between threads. */
import { isSluiceError, toError } from '../../../../core/errors.js';
import { formatErrors } from '../../../../core/formats/errors.js';
import { storeErrors } from '../../errors.js';
import { isStoreCode, shorten } from '../failures.js';

export interface WireError {
  readonly code: string;
  readonly place: string | undefined;
  readonly got: string | undefined;
  readonly allowed: string | undefined;
  readonly reason: string;
}

export function toWire(thrown: unknown): WireError {
  const error = toError(thrown);
  if (isSluiceError(thrown))
    return { code: thrown.code, place: thrown.place, got: thrown.got, allowed: thrown.allowed, reason: thrown.message };
  return {
    code: 'STORE_UNAVAILABLE',
    place: undefined,
    got: shorten(error.message),
    allowed: undefined,
    reason: shorten(error.stack ?? error.message),
  };
}

export function fromWire(error: WireError): Error {
  const details = { place: error.place, got: error.got, allowed: error.allowed };
  if (error.code in formatErrors.kinds)
    return formatErrors.create(error.code as keyof typeof formatErrors.kinds, details);
  return storeErrors.create(isStoreCode(error.code) ? error.code : 'STORE_UNAVAILABLE', details);
}
