/** Users and roles as they are now, and what each user may do. */
import type { Log } from '../../core/log.js';
import type { FileRole, Identity } from '../../schemas/access.js';
import type { StateStore } from '../../state/contract.js';
import { createCollection, type Collection } from '../stored/collection.js';
import { defaultRoles } from './default-roles.js';
import type { Role } from '../contract.js';
import { keyOfName } from '../../core/names.js';
import { storeKey } from '../stored/names.js';
import { readRole, readUser, rolePrefix, userPrefix, type RoleRecord, type UserRecord } from '../stored/records.js';
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
  /** Roles that ship, roles of rule files and own roles, in any case. When two have one name, that order decides. */
  role(name: string): Role | undefined;
  allRoles(): readonly Role[];
  rightsOf(user: UserRecord): Rights;
  streams(): readonly StreamName[];
}

interface PeopleOptions {
  readonly state: StateStore;
  readonly log: Log;
  /** The same array as long as nothing changes. */
  readonly streams: () => readonly StreamName[];
  /** Roles of the rule files; the same array as long as nothing changes. Default: none. */
  readonly fileRoles?: (() => readonly FileRole[]) | undefined;
  /** Who created which stream without being an administrator; the same array as long as nothing changes. */
  readonly owners?: (() => readonly StreamOwner[]) | undefined;
}

export interface StreamOwner {
  readonly stream: string;
  readonly userId: string;
}

const none: readonly never[] = [];
/** Graylog's names of roles that ship. A role of one's own of that name comes first. */
const otherNames: Readonly<Record<string, string>> = { admin: 'administrator' };

export function createPeople({
  state,
  log,
  streams,
  fileRoles = () => none,
  owners = () => none,
}: PeopleOptions): People {
  const users = createCollection({ state, prefix: userPrefix, read: readUser, log });
  const roles = createCollection({ state, prefix: rolePrefix, read: readRole, log });
  const byId = derived(
    () => [users.values()],
    () => new Map([...users.values().values()].map((user) => [user.id, user])),
  );
  const known = derived(
    () => [roles.values(), fileRoles()],
    () => {
      const own = [...[...roles.values().values()].map(ownRole), ...fileRoles().map(roleOfFile)];
      return new Map([...own.map((role) => [keyOfName(role.name), role] as const), ...defaultRoles]);
    },
  );
  let rights = new WeakMap<UserRecord, Rights>();
  let rightsFor: readonly unknown[] = [];
  const rightsOfUser = (user: UserRecord): Rights => {
    const basis = [known(), streams(), owners()];
    if (basis.some((part, at) => part !== rightsFor[at])) {
      rights = new WeakMap();
      rightsFor = basis;
    }
    const owned = (): readonly string[] =>
      owners()
        .filter(({ userId }) => userId === user.id)
        .map(({ stream }) => stream);
    const kept =
      rights.get(user) ??
      rightsOf(
        user,
        user.roles.flatMap((name) => known().get(name) ?? []),
        streams(),
        owned(),
      );
    rights.set(user, kept);
    return kept;
  };
  return {
    users,
    roles,
    streams,
    start: async () => void (await Promise.all([users.start(), roles.start()])),
    stop() {
      users.stop();
      roles.stop();
    },
    byName: (name) => users.values().get(storeKey(userPrefix, name)),
    byId: (id) => byId().get(id),
    find: (nameOrId) => byId().get(nameOrId) ?? users.values().get(storeKey(userPrefix, nameOrId)),
    role: (name) => known().get(keyOfName(name)) ?? known().get(otherNames[keyOfName(name)] ?? ''),
    allRoles: () => [...known().values()],
    rightsOf: rightsOfUser,
  };
}

/** Computed again when one of the sources is another object than before. */
function derived<To>(sources: () => readonly object[], make: () => To): () => To {
  let from: readonly object[] = [];
  let made: { readonly value: To } | undefined;
  return () => {
    const now = sources();
    if (made === undefined || now.some((source, at) => source !== from[at])) made = { value: make() };
    from = now;
    return made.value;
  };
}

function ownRole(record: RoleRecord): Role {
  const {
    name,
    description,
    read,
    edit,
    capabilities,
    read_all: readAll,
    other_permissions: otherPermissions,
  } = record;
  return {
    name,
    description,
    read: readAll === true ? 'all' : read,
    edit,
    audit: false,
    administrator: false,
    capabilities,
    otherPermissions,
    origin: 'api',
    file: undefined,
  };
}

function roleOfFile({ id: name, description, read, edit, capabilities, file }: FileRole): Role {
  return {
    name,
    description,
    read,
    edit,
    audit: false,
    administrator: false,
    capabilities,
    otherPermissions: [],
    origin: 'file',
    file,
  };
}

export function identityOf(
  user: UserRecord,
  { administrator, scope, editableStreams, capabilities, roles }: Rights,
  by: Identity['by'],
  sessionId?: string,
): Identity {
  return {
    userId: user.id,
    username: user.username,
    roles,
    administrator,
    scope,
    editableStreams,
    capabilities,
    by,
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
