/** Users: who may see and change whom. */
import type { Identity } from '../../schemas/access.js';
import type { PasswordChange, SessionActivity, User, UserAdministration, UserChange } from '../contract.js';
import { isConflict } from '../stored/collection.js';
import { accessErrors } from '../errors.js';
import { newUser } from '../first-start.js';
import { checkName, storeKey } from '../stored/names.js';
import { assertAnotherAdministrator, assertMay, changeRecord, findUser, type AdministrationParts } from './parts.js';
import type { People } from '../rights/people.js';
import { permissionTexts } from '../rights/permissions.js';
import { userPrefix, type UserRecord } from '../stored/records.js';
import { covers } from '../rights/rights.js';
import { appliedChange, directoryChange, sameRoles } from './user-change.js';

/** All of them are in memory of every process that serves the API. */
const maxUsers = 10_000;

export function createUserAdministration(parts: AdministrationParts): Omit<UserAdministration, 'makeDefaultUsers'> {
  const { people, settings, alone } = parts;
  const shown = (user: UserRecord): User => userOf(people, user, settings.session_timeout_ms);
  return {
    users: (by) =>
      [...people.users.values().values()].filter((user) => user.id === by.userId || mayEditUsers(by)).map(shown),
    user: (by, nameOrId) => shown(findUser(parts, by, nameOrId)),
    createUser: async (by, name, password, change) => shown(await createUser(parts, by, { name, password, change })),
    changeUser: (by, nameOrId, change) => alone(async () => shown(await changeUser(parts, by, nameOrId, change))),
    setPassword: (by, nameOrId, change) => setPassword(parts, by, nameOrId, change),
    setEnabled: (by, nameOrId, enabled) => alone(() => setEnabled(parts, by, nameOrId, enabled)),
    deleteUser: (by, nameOrId) => alone(() => deleteUser(parts, by, nameOrId)),
    sessions: (by) => activityOf(parts, by),
  };
}

async function createUser(
  parts: AdministrationParts,
  by: Identity,
  { name, password, change }: { readonly name: string; readonly password: string; readonly change: UserChange },
): Promise<UserRecord> {
  const { people, passwords, now } = parts;
  assertMay(by, 'users:edit');
  const username = checkName('username', name);
  passwords.check(username, password);
  if (people.users.values().size >= maxUsers)
    throw accessErrors.create('ACCESS_LIMIT_REACHED', { got: `${maxUsers} users` });
  const user = appliedChange(parts, by, newUser(username), change);
  const hash = await passwords.hash(password);
  try {
    await people.users.create(storeKey(userPrefix, username), {
      ...user,
      password_hash: hash,
      password_changed_at: now(),
    });
  } catch (thrown) {
    if (isConflict(thrown)) throw accessErrors.create('ACCESS_NAME_TAKEN', { got: JSON.stringify(username) });
    throw thrown;
  }
  return user;
}

async function changeUser(
  parts: AdministrationParts,
  by: Identity,
  nameOrId: string,
  change: UserChange,
): Promise<UserRecord> {
  const user = findUser(parts, by, nameOrId);
  assertMayTouch(parts, by, user);
  if (user.external && change.roles !== undefined && !sameRoles(change.roles, user.roles))
    throw accessErrors.create('ACCESS_READ_ONLY', {
      place: 'roles',
      allowed: 'groups of the directory decide about the roles of its users',
    });
  return changeRecord(parts, user, (record) => {
    const after = appliedChange(parts, by, record, record.external ? directoryChange(record, change) : change);
    if (!after.roles.includes('administrator')) assertAnotherAdministrator(parts.people, record);
    return after;
  });
}

async function setPassword(
  parts: AdministrationParts,
  by: Identity,
  nameOrId: string,
  { password, old, address }: PasswordChange,
): Promise<void> {
  const { passwords, throttle, now } = parts;
  const user = findUser(parts, by, nameOrId);
  assertMayTouch(parts, by, user);
  if (user.external)
    throw accessErrors.create('ACCESS_READ_ONLY', {
      place: 'password',
      allowed: 'the directory keeps the passwords of its users',
    });
  if (user.id === by.userId) await assertOldPassword(parts, user, old, address);
  passwords.check(user.username, password);
  const hash = await passwords.hash(password);
  await changeRecord(parts, user, (record) => ({
    ...record,
    password_hash: hash,
    generation: record.generation + 1,
    password_changed_at: now(),
  }));
  throttle?.forgive(user.username);
}

async function setEnabled(
  parts: AdministrationParts,
  by: Identity,
  nameOrId: string,
  enabled: boolean,
): Promise<boolean> {
  const user = findAnother(parts, by, nameOrId);
  if (user.enabled === enabled) return false;
  if (!enabled) assertAnotherAdministrator(parts.people, user);
  await changeRecord(parts, user, (record) => ({ ...record, enabled, generation: record.generation + 1 }));
  return true;
}

async function deleteUser(parts: AdministrationParts, by: Identity, nameOrId: string): Promise<void> {
  const user = findAnother(parts, by, nameOrId);
  assertAnotherAdministrator(parts.people, user);
  await parts.people.users.remove(storeKey(userPrefix, user.username));
}

function findAnother(parts: AdministrationParts, by: Identity, nameOrId: string): UserRecord {
  const user = findUser(parts, by, nameOrId);
  assertMay(by, 'users:edit');
  assertMayTouch(parts, by, user);
  if (user.id === by.userId) throw accessErrors.create('ACCESS_OWN_ACCOUNT');
  return user;
}

async function activityOf(
  { people, sessions, settings, now }: AdministrationParts,
  by: Identity,
): Promise<ReadonlyMap<string, SessionActivity>> {
  const activity = new Map<string, SessionActivity>();
  for (const { value } of await sessions.list()) {
    const { user_id: id, used_at: usedAt, generation, address } = value;
    const user = people.byId(id);
    const ended =
      user === undefined ||
      !user.enabled ||
      user.generation !== generation ||
      now() - usedAt >= (user.session_timeout_ms ?? settings.session_timeout_ms);
    if (ended || (id !== by.userId && !mayEditUsers(by)) || (activity.get(id)?.lastActivity ?? 0) > usedAt) continue;
    activity.set(id, { active: true, lastActivity: usedAt, address });
  }
  return activity;
}

function mayEditUsers(by: Identity): boolean {
  return by.administrator || by.capabilities.has('users:edit');
}

/** Wrong ones count as wrong logins: a borrowed session is no place to guess from. */
async function assertOldPassword(
  { passwords, throttle }: AdministrationParts,
  user: UserRecord,
  old: string | undefined,
  address: string,
): Promise<void> {
  if (old === undefined || old === '') throw accessErrors.create('ACCESS_OLD_PASSWORD_WRONG');
  const attempt = await throttle?.attempt(user.username, address);
  const matches = await passwords.verify(user.password_hash, old, true);
  if (matches) attempt?.succeeded();
  else attempt?.failed();
  if (!matches) throw accessErrors.create('ACCESS_OLD_PASSWORD_WRONG');
}

/** Who may edit users, but has fewer rights than a user, cannot become that user. */
function assertMayTouch({ people }: AdministrationParts, by: Identity, user: UserRecord): void {
  if (user.id === by.userId || covers(by, people.rightsOf(user))) return;
  throw accessErrors.create('ACCESS_FORBIDDEN', { allowed: 'somebody with all rights of that user' });
}

export function userOf(people: People, user: UserRecord, defaultTimeoutMs: number): User {
  const rights = people.rightsOf(user);
  const {
    id,
    username,
    email,
    first_name: firstName,
    last_name: lastName,
    timezone,
    startpage,
    preferences = {},
    service_account: serviceAccount,
    enabled,
    external,
  } = user;
  return {
    id,
    username,
    email,
    firstName,
    lastName,
    timezone,
    startpage,
    preferences,
    serviceAccount,
    enabled,
    external,
    roles: rights.roles,
    permissions: permissionTexts(rights, user),
    sessionTimeoutMs: user.session_timeout_ms ?? defaultTimeoutMs,
  };
}
