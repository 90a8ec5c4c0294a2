/** Names of users and roles as keys of the state. */
import { createHash } from 'node:crypto';
import { isName, keyOfName, maxNameLength, nameRule } from '../../core/names.js';
import { accessErrors } from '../errors.js';

/** The key of a name: any letters, at most 64 bytes. */
export function storeKey(prefix: string, name: string): string {
  const key = keyOfName(name);
  return (
    prefix +
    (/^[a-z0-9._@-]{1,60}$/.test(key) ? key : `~${createHash('sha256').update(key).digest('hex').slice(0, 60)}`)
  );
}

export function isApiId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

/** Throws ACCESS_VALUE_INVALID for what cannot be a name. */
export function checkName(what: string, name: string): string {
  if (isName(name)) return name.normalize('NFC');
  throw accessErrors.create('ACCESS_VALUE_INVALID', {
    place: what,
    got: JSON.stringify(name.slice(0, maxNameLength)),
    allowed: nameRule,
  });
}
