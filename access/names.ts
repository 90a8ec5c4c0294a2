/** Names of users and roles, and the streams and roles that mean something here. */
import { createHash } from 'node:crypto';
import { accessErrors } from './errors.js';

/** Its messages are for administrators and AuditViewer only, whatever other stream they are in. */
export const auditStream = 'audit-logs';

export const maxNameLength = 100;

/** Names are compared in any case, and composed or decomposed letters are the same. */
export function keyOfName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** The key under which a name is kept: any letters, at most 64 bytes. */
export function storeKey(prefix: string, name: string): string {
  const key = keyOfName(name);
  return prefix + (/^[a-z0-9._@-]{1,60}$/.test(key) ? key : `~${createHash('sha256').update(key).digest('hex').slice(0, 60)}`);
}

export function isApiId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

/** A colon cannot be sent with Basic authentication, a slash not in a path; what looks like an id would be taken for one. */
export function checkName(what: string, name: string): string {
  const trimmed = name.normalize('NFC');
  const usable = trimmed.length >= 1 && trimmed.length <= maxNameLength && trimmed.trim() === trimmed && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}:/]/u.test(trimmed) && !/^[0-9a-f]{24}$/i.test(trimmed);
  if (usable) return trimmed;
  throw accessErrors.create('ACCESS_VALUE_INVALID', { place: what, got: JSON.stringify(name.slice(0, maxNameLength)), allowed: `1 to ${maxNameLength} characters, none of them a colon, a slash or a control character, no blank at the ends, and not 24 hexadecimal digits` });
}
