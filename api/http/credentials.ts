/** What a request brings to say who sends it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from '../../access/contract.js';
import { failure } from './failure.js';

/** Longer than any token, session id or sensible password; hashing more would be a gift to attackers. */
const maxCredentialLength = 4_096;

export const sessionCookie = 'authentication';

/** Undefined: none. Throws 400 for a malformed header. */
export function credentialsOf(
  headers: IncomingHttpHeaders,
  cookies: Readonly<Record<string, string | undefined>>,
): Credentials | undefined {
  const { authorization } = headers;
  if (authorization === undefined) {
    const sessionId = cookies[sessionCookie];
    return sessionId === undefined || sessionId === '' ? undefined : { kind: 'session', sessionId };
  }
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (value === '' || value.length > maxCredentialLength) throw malformed();
  if (scheme.toLowerCase() === 'bearer') return { kind: 'token', token: value };
  if (scheme.toLowerCase() !== 'basic') throw malformed();
  return basic(value);
}

/** RFC 7617; the password `session` or `token` says that the name is a session id or a token. */
function basic(value: string): Credentials {
  const text = /^[A-Za-z0-9+/]+=*$/.test(value) ? Buffer.from(value, 'base64').toString('utf8') : '';
  const colon = text.indexOf(':');
  if (colon <= 0) throw malformed();
  const [name, password] = [text.slice(0, colon), text.slice(colon + 1)];
  if (password === 'session') return { kind: 'session', sessionId: name };
  if (password === 'token') return { kind: 'token', token: name };
  return { kind: 'password', username: name, password };
}

function malformed(): Error {
  return failure(
    'API_HEADER_INVALID',
    'The Authorization header is malformed. Allowed: Basic with base64 of name:password, session:session or token:token, or Bearer with a token.',
  );
}
