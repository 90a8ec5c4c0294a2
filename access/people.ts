/** Users and roles as they are now, and what each user may do. */
import type { Log } from '../core/log.js';
import type { Identity } from '../schemas/access.js';
import type { StateStore } from '../state/contract.js';
import { createCollection, type Collection } from './collection.js';
import { defaultRoles, type Role } from './default-roles.js';
import { keyOfName, storeKey } from './names.js';
import { rolePrefix, userPrefix, type RoleRecord, type UserRecord } from './records.js';
import { rightsOf, type Rights, type StreamName } from './rights.js';

export interface People {
  readonly users: Collection<UserRecord>;
  readonly roles: Collection<RoleRecord>;
  start(): Promise<void>;
  stop(): void;
  byName(name: string): UserRecord | undefined;
  byId(id: string): UserRecord | undefined;
  /** An id comes first: names do not look like ids. */
  find(nameOrId: string): UserRecord | undefined;
  /** The ones that ship and own ones, in any case. */
  role(name: string): Role | undefined;
  allRoles(): readonly Role[];
  rightsOf(user: UserRecord): Rights;
  streams(): readonly StreamName[];
}

export interface PeopleOptions {
  readonly state: StateStore;
  readonly log: Log;
  /** The same array as long as nothing changes. */
  readonly streams: () => readonly StreamName[];
}

export function createPeople({ state, log, streams }: PeopleOptions): People {
  const users = createCollection<UserRecord>(state, userPrefix, log);
  const roles = createCollection<RoleRecord>(state, rolePrefix, log);
  const byId = derived(() => users.values(), (all) => new Map([...all.values()].map((user) => [user.id, user])));
  const known = derived(() => roles.values(), (all) => new Map([...[...all.values()].map((record) => [keyOfName(record.name), ownRole(record)] as const), ...defaultRoles]));
  let rights = new WeakMap<UserRecord, Rights>();
  let rightsFor: readonly unknown[] = [];
  const rightsOfUser = (user: UserRecord): Rights => {
    const basis = [known(), streams()];
    if (basis.some((part, at) => part !== rightsFor[at])) {
      rights = new WeakMap();
      rightsFor = basis;
    }
    const kept = rights.get(user) ?? rightsOf(user, user.roles.flatMap((name) => known().get(name) ?? []), streams());
    rights.set(user, kept);
    return kept;
  };
  return {
    users, roles, streams,
    start: async () => void (await Promise.all([users.start(), roles.start()])),
    stop() {
      users.stop();
      roles.stop();
    },
    byName: (name) => users.values().get(storeKey(userPrefix, name)),
    byId: (id) => byId().get(id),
    find: (nameOrId) => byId().get(nameOrId) ?? users.values().get(storeKey(userPrefix, nameOrId)),
    role: (name) => known().get(keyOfName(name)),
    allRoles: () => [...known().values()],
    rightsOf: rightsOfUser,
  };
}

function derived<From extends object, To>(source: () => From, make: (from: From) => To): () => To {
  let from: From | undefined;
  let made: To | undefined;
  return () => {
    const now = source();
    if (from !== now || made === undefined) made = make(now);
    from = now;
    return made;
  };
}

function ownRole(record: RoleRecord): Role {
  const { name, description, read, edit, capabilities, read_all: readAll, other_permissions: otherPermissions } = record;
  return { name, description, read: readAll === true ? 'all' : read, edit, audit: false, administrator: false, capabilities, otherPermissions, readOnly: false };
}

export function identityOf(user: UserRecord, { administrator, scope, editableStreams, capabilities, roles }: Rights, by: Identity['by'], sessionId?: string): Identity {
  return { userId: user.id, username: user.username, roles, administrator, scope, editableStreams, capabilities, by, ...(sessionId === undefined ? {} : { sessionId }) };
}
