/** What a user may do: the sum of the roles, computed once for each state of users, roles and streams. */
import { apiIdOf } from '../../core/object-ids.js';
import {
  administratorCapabilities,
  auditStream,
  type Capability,
  type Identity,
  type SearchScope,
} from '../../schemas/access.js';
import type { Role } from '../contract.js';
import type { UserRecord } from '../stored/records.js';

export interface StreamName {
  readonly id: string;
  readonly title: string;
}

export interface Rights {
  readonly administrator: boolean;
  readonly scope: SearchScope;
  readonly editableStreams: 'all' | readonly string[];
  readonly capabilities: ReadonlySet<Capability>;
  /** Names as the roles are written. */
  readonly roles: readonly string[];
}

const unrestrictedRights = (roles: readonly Role[], capabilities: readonly Capability[]): Rights => ({
  administrator: true,
  scope: { streams: 'all', except: [], deadLetters: true },
  editableStreams: 'all',
  capabilities: new Set(capabilities),
  roles: roles.map(({ name }) => name),
});

/**
 * Rights add up; the stream of the audit is never a part of `all`, and no own role opens it. `owned`: streams that the
 * user created.
 */
export function rightsOf(
  user: Pick<UserRecord, 'read_streams' | 'edit_streams'>,
  roles: readonly Role[],
  streams: readonly StreamName[],
  owned: readonly string[] = [],
): Rights {
  const administrator = roles.find((role) => role.administrator);
  if (administrator !== undefined) return unrestrictedRights(roles, administrator.capabilities);
  const audit = roles.some((role) => role.audit);
  const byApiId = new Map(streams.map(({ id }) => [apiIdOf(id), id]));
  const resolved = (ids: Iterable<string>): readonly string[] =>
    [...new Set(ids)].map((id) => byApiId.get(id) ?? id).filter((id) => id !== auditStream);
  const sum = (own: readonly string[] | undefined, of: 'read' | 'edit'): 'all' | readonly string[] =>
    roles.some((role) => role[of] === 'all')
      ? 'all'
      : resolved([...(own ?? []), ...roles.flatMap((role) => [...role[of]])]);
  const editableStreams = sum([...(user.edit_streams ?? []), ...owned], 'edit');
  const read = sum(user.read_streams, 'read');
  const readable = read === 'all' || editableStreams === 'all' ? 'all' : [...new Set([...read, ...editableStreams])];
  return {
    administrator: false,
    scope: { streams: readable, except: audit ? [] : [auditStream], deadLetters: false },
    editableStreams,
    capabilities: new Set(
      roles.flatMap((role) =>
        role.capabilities.filter((one) => role.origin === 'shipped' || !administratorCapabilities.has(one)),
      ),
    ),
    roles: roles.map(({ name }) => name),
  };
}

/** Nobody gives away rights that they do not have. */
export function covers(
  identity: Pick<Identity, 'administrator' | 'scope' | 'editableStreams' | 'capabilities'>,
  rights: Rights,
): boolean {
  if (identity.administrator) return true;
  if (rights.administrator) return false;
  const within = (held: 'all' | readonly string[], asked: 'all' | readonly string[]): boolean =>
    held === 'all' || (asked !== 'all' && asked.every((id) => held.includes(id)));
  return (
    within(identity.scope.streams, rights.scope.streams) &&
    identity.scope.except.every(
      (id) =>
        rights.scope.except.includes(id) || (rights.scope.streams !== 'all' && !rights.scope.streams.includes(id)),
    ) &&
    within(identity.editableStreams, rights.editableStreams) &&
    [...rights.capabilities].every((one) => identity.capabilities.has(one))
  );
}
