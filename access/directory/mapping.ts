/**
 * From groups of the directory to roles and streams: texts of the settings, in order, any case, `*` for any characters.
 */
import { apiIdOf } from '../../core/object-ids.js';
import type { LdapOptions } from '../../schemas/config/ldap.js';
import type { Role } from '../contract.js';
import { keyOfName } from '../../core/names.js';
import { auditStream } from '../../schemas/access.js';
import type { StreamName } from '../rights/rights.js';

export interface MappedRights {
  /** Lower-case names of roles that exist. */
  readonly roles: readonly string[];
  readonly read: readonly string[];
  readonly edit: readonly string[];
}

export type Mappings = Pick<LdapOptions, 'role_mapping' | 'default_roles' | 'stream_mapping'>;

export function rightsByGroups(
  { role_mapping: roleMapping, default_roles: defaults, stream_mapping: streamMapping }: Mappings,
  groups: readonly string[],
  roles: readonly Role[],
  streams: readonly StreamName[],
): MappedRights {
  const names = groups.flatMap((dn) => [keyOfName(dn), ...commonName(dn)]);
  const fits = (group: string): boolean => names.some((name) => matches(keyOfName(group), name));
  const chosen = (roleMapping.find(({ group }) => fits(group))?.roles ?? defaults)
    .filter((name) => roleIsThere(roles, name))
    .map(keyOfName);
  const grants = streamMapping.filter(({ group }) => fits(group)).flatMap((entry) => entry.streams);
  const ids = (right: 'view' | 'edit'): readonly string[] =>
    [
      ...new Set(
        grants.filter((entry) => grantOf(entry).right === right).flatMap((entry) => streamsNamed(streams, entry)),
      ),
    ].filter((id) => id !== auditStream);
  return { roles: [...new Set(chosen)], read: ids('view'), edit: ids('edit') };
}

export function roleIsThere(roles: readonly Role[], name: string): boolean {
  const key = keyOfName(name);
  return roles.some((role) => keyOfName(role.name) === key);
}

/** Ids of all streams that an entry of a mapping names, Audit logs too. */
export function streamsNamed(streams: readonly StreamName[], entry: string): readonly string[] {
  const key = keyOfName(grantOf(entry).stream.trim());
  return streams
    .filter(({ id, title }) => id === key || apiIdOf(id) === key || keyOfName(title) === key)
    .map(({ id }) => id);
}

/** The value of the first part of a distinguished name: `cn=Log readers,ou=groups,...` is `log readers`. */
function commonName(dn: string): readonly string[] {
  const first = /^\s*[\w.-]+\s*=\s*((?:\\.|[^,\\+])*)/.exec(dn)?.[1];
  return first === undefined ? [] : [keyOfName(unescaped(first).trim())];
}

/** RFC 4514: a backslash before a character, or before two hexadecimal digits of a byte. */
function unescaped(text: string): string {
  return text
    .replace(/(?:\\[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('\\', ''), 'hex').toString('utf8'))
    .replace(/\\(.)/g, '$1');
}

/** Linear: each text between two stars is looked for once, after the one before. */
export function matches(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return head === text;
  const tail = rest.pop() ?? '';
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false;
  let at = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - tail.length) return false;
    at = found + part.length;
  }
  return true;
}

/** `manage` and `own` are what peers call it. */
function grantOf(text: string): { readonly stream: string; readonly right: 'view' | 'edit' } {
  const [, stream, right] = /^(.*)\/(view|edit|manage|own)$/i.exec(text) ?? [];
  return stream === undefined
    ? { stream: text, right: 'view' }
    : { stream, right: right?.toLowerCase() === 'view' ? 'view' : 'edit' };
}
