/**
 * Rights in the words of the API: `streams:read:<id>`, `streams:edit:<id>`, `streams:read` (all but Audit logs), the
 * capabilities, `*` of administrators.
 */
import { apiIdOf, findId } from '../../core/object-ids.js';
import { administratorCapabilities, allCapabilities, auditStream, type Capability } from '../../schemas/access.js';
import type { Role } from '../contract.js';
import { accessErrors } from '../errors.js';
import { isApiId } from '../stored/names.js';
import type { RoleRecord } from '../stored/records.js';
import type { Rights, StreamName } from './rights.js';

const maxPermissions = 1_000;
const capabilities: ReadonlySet<string> = new Set(allCapabilities);

type RoleRights = Pick<RoleRecord, 'read' | 'edit' | 'read_all' | 'capabilities' | 'other_permissions'>;

/**
 * Throws ACCESS_VALUE_INVALID for what a role cannot have. Graylog's permissions without a meaning here are stored
 * without an effect.
 */
export function readPermissions(texts: readonly string[], streams: readonly StreamName[]): RoleRights {
  if (texts.length > maxPermissions) throw invalid(`${texts.length} permissions`, `at most ${maxPermissions}`);
  const read = new Set<string>();
  const edit = new Set<string>();
  const held = new Set<Capability>();
  const other = new Set<string>();
  let readAll = false;
  for (const text of texts) {
    const [, right, name] = /^streams:(read|edit):(.+)$/.exec(text) ?? [];
    if (name !== undefined && name !== '*') (right === 'read' ? read : edit).add(streamOf(name, streams, text));
    else if (text === 'streams:read' || text === 'streams:read:*') readAll = true;
    else if (text === 'streams:edit' || text === 'streams:edit:*' || text.split(':').includes('*'))
      throw invalid(JSON.stringify(text.slice(0, 200)), 'no wildcards: full rights are the role Administrator');
    else if (administratorCapabilities.has(text as Capability))
      throw invalid(text, 'only the roles Administrator (and AuditViewer for audit:read) have it');
    else if (capabilities.has(text)) held.add(text as Capability);
    else if (/^[a-z][\w-]*(?::[\w.,-]+){1,3}$/i.test(text) && text.length <= 200) other.add(text);
    else throw invalid(JSON.stringify(text.slice(0, 200)), 'object:action or object:action:id');
  }
  return {
    read: [...new Set([...read, ...edit])],
    edit: [...edit],
    read_all: readAll,
    capabilities: [...held],
    other_permissions: [...other],
  };
}

/** The id of the rule files; 24 hexadecimal characters of a stream that does not exist yet stay as they are. */
function streamOf(name: string, streams: readonly StreamName[], text: string): string {
  const id = findId([auditStream, ...streams.map((stream) => stream.id)], name);
  if (id === auditStream)
    throw invalid(text, 'no permission on Audit logs: administrators and the role AuditViewer read it');
  if (id !== undefined) return id;
  if (isApiId(name)) return name;
  throw invalid(JSON.stringify(text.slice(0, 200)), 'the id of a stream');
}

function invalid(got: string, allowed: string): Error {
  return accessErrors.create('ACCESS_VALUE_INVALID', { place: 'permissions', got, allowed });
}

const hex = (id: string): string => (isApiId(id) ? id : apiIdOf(id));

export function rolePermissionTexts({
  administrator,
  read,
  edit,
  audit,
  capabilities: held,
  otherPermissions,
}: Role): readonly string[] {
  if (administrator) return ['*'];
  const reads = read === 'all' ? ['streams:read'] : read.map((id) => `streams:read:${hex(id)}`);
  const edits = edit === 'all' ? ['streams:edit'] : edit.map((id) => `streams:edit:${hex(id)}`);
  return [...reads, ...(audit ? [`streams:read:${apiIdOf(auditStream)}`] : []), ...edits, ...held, ...otherPermissions];
}

export function permissionTexts(
  { administrator, scope, editableStreams, capabilities: held }: Rights,
  user: { readonly username: string },
): readonly string[] {
  if (administrator) return ['*'];
  const reads = scope.streams === 'all' ? ['streams:read'] : scope.streams.map((id) => `streams:read:${hex(id)}`);
  const edits = editableStreams === 'all' ? ['streams:edit'] : editableStreams.map((id) => `streams:edit:${hex(id)}`);
  const own = ['read', 'edit', 'passwordchange', 'tokenlist', 'tokencreate', 'tokenremove'].map(
    (action) => `users:${action}:${user.username}`,
  );
  const audit =
    scope.streams === 'all' && !scope.except.includes(auditStream) ? [`streams:read:${apiIdOf(auditStream)}`] : [];
  return [...reads, ...audit, ...edits, ...held, ...own];
}
