/** Roles: the ones that ship stay as they are, own ones name streams and capabilities. */
import type { Identity } from '../../schemas/access.js';
import type { RoleAdministration, RoleChange, RoleDefinition } from '../contract.js';
import { isConflict } from '../stored/collection.js';
import type { Role } from '../contract.js';
import { accessErrors } from '../errors.js';
import { keyOfName } from '../../core/names.js';
import { checkName, storeKey } from '../stored/names.js';
import { assertAnotherAdministrator, assertMay, changeRecord, findUser, type AdministrationParts } from './parts.js';
import type { People } from '../rights/people.js';
import { readPermissions, rolePermissionTexts } from '../rights/permissions.js';
import { rolePrefix, type RoleRecord } from '../stored/records.js';
import { covers, rightsOf } from '../rights/rights.js';
import { rolesToGive } from './user-change.js';
import { userOf } from './users.js';

const maxRoles = 1_000;
const maxDescriptionLength = 1_000;

export function createRoleAdministration(parts: AdministrationParts): RoleAdministration {
  const { people, settings, alone } = parts;
  return {
    roles: () =>
      people
        .allRoles()
        .map(definitionOf)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    role: (name) => definitionOf(findRole(people, name)),
    createRole: (by, name, description, permissions) => createRole(parts, by, { name, description, permissions }),
    changeRole: (by, name, change) => changeRole(parts, by, name, change),
    async deleteRole(by, name) {
      assertMay(by, 'roles:edit');
      const role = ownRole(people, name);
      assertCovered(people, by, role);
      await people.roles.remove(storeKey(rolePrefix, role.name));
      await forgetMembers(parts, keyOfName(role.name));
    },
    members(by, name) {
      if (!by.capabilities.has('users:edit')) assertMay(by, 'roles:edit');
      const key = keyOfName(findRole(people, name).name);
      return [...people.users.values().values()]
        .filter((user) => user.roles.includes(key))
        .map((user) => userOf(people, user, settings.session_timeout_ms));
    },
    addMember: (by, role, nameOrId) => alone(() => changeMember(parts, by, { role, nameOrId, member: true })),
    removeMember: (by, role, nameOrId) => alone(() => changeMember(parts, by, { role, nameOrId, member: false })),
  };
}

async function createRole(
  parts: AdministrationParts,
  by: Identity,
  { name, description, permissions }: Pick<RoleDefinition, 'name' | 'description' | 'permissions'>,
): Promise<RoleDefinition> {
  const { people, now } = parts;
  assertMay(by, 'roles:edit');
  const checked = checkName('name', name);
  const role = {
    name: checked,
    description: checkDescription(description),
    ...readPermissions(permissions, people.streams()),
    created_at: now(),
  };
  assertCovered(people, by, role);
  const taken = people.role(checked);
  if (taken?.origin === 'file') throw ofFile(taken);
  if (taken !== undefined) throw accessErrors.create('ACCESS_NAME_TAKEN', { got: JSON.stringify(checked) });
  if (people.roles.values().size >= maxRoles)
    throw accessErrors.create('ACCESS_LIMIT_REACHED', { got: `${maxRoles} roles` });
  // One of this name may have stood in a file that is gone.
  await forgetMembers(parts, keyOfName(checked));
  try {
    await people.roles.create(storeKey(rolePrefix, checked), role);
  } catch (thrown) {
    throw isConflict(thrown) ? accessErrors.create('ACCESS_NAME_TAKEN', { got: JSON.stringify(checked) }) : thrown;
  }
  return definitionOf(findRole(people, checked));
}

async function changeRole(
  { people }: AdministrationParts,
  by: Identity,
  name: string,
  { name: newName, description, permissions }: RoleChange,
): Promise<RoleDefinition> {
  assertMay(by, 'roles:edit');
  const shipped = people.role(name);
  if (shipped?.origin === 'shipped' && hasAlready(people, shipped, newName, permissions)) return definitionOf(shipped);
  const role = ownRole(people, name);
  if (newName !== undefined && keyOfName(newName) !== keyOfName(role.name))
    throw accessErrors.create('ACCESS_VALUE_INVALID', {
      place: 'name',
      got: JSON.stringify(newName.slice(0, 100)),
      allowed: 'the name it has: roles are not renamed',
    });
  assertCovered(people, by, role);
  const rights = permissions === undefined ? {} : readPermissions(permissions, people.streams());
  const changed = await people.roles.change(storeKey(rolePrefix, role.name), (record) => {
    const after = {
      ...record,
      ...rights,
      name: newName ?? record.name,
      description: description === undefined ? record.description : checkDescription(description),
    };
    assertCovered(people, by, after);
    return after;
  });
  if (changed === undefined) throw accessErrors.create('ACCESS_ROLE_UNKNOWN', { got: JSON.stringify(role.name) });
  return definitionOf(findRole(people, role.name));
}

/** Deployers write the roles that ship as they know them: one that has all of it already stays as it is. */
function hasAlready(
  people: People,
  role: Role,
  newName: string | undefined,
  permissions: readonly string[] | undefined,
): boolean {
  if (permissions === undefined) return false;
  if (newName !== undefined && keyOfName(newName) !== keyOfName(role.name)) return false;
  const held = new Set(rolePermissionTexts(role));
  const asked = {
    name: role.name,
    description: '',
    ...readPermissions(
      permissions.filter((text) => !held.has(text)),
      people.streams(),
    ),
  };
  return covers(rightsOf({}, [role], people.streams()), rightsOf({}, [roleOfRecord(asked)], people.streams()));
}

/** A role of the same name that comes later must not find old members. */
async function forgetMembers(parts: AdministrationParts, key: string): Promise<void> {
  const { users } = parts.people;
  await users.refresh();
  for (const user of users.values().values()) {
    if (user.roles.includes(key))
      await changeRecord(parts, user, (record) => ({ ...record, roles: record.roles.filter((one) => one !== key) }));
  }
}

async function changeMember(
  parts: AdministrationParts,
  by: Identity,
  { role, nameOrId, member }: { readonly role: string; readonly nameOrId: string; readonly member: boolean },
): Promise<void> {
  assertMay(by, 'users:edit');
  const key = keyOfName(findRole(parts.people, role).name);
  const user = findUser(parts, by, nameOrId);
  if (user.external)
    throw accessErrors.create('ACCESS_READ_ONLY', {
      place: 'roles',
      allowed: 'groups of the directory decide about the roles of its users',
    });
  await changeRecord(parts, user, (record) => {
    const roles = rolesToGive(
      parts.people,
      by,
      record,
      member ? [...record.roles, key] : record.roles.filter((one) => one !== key),
    );
    if (key === 'administrator' && !member) assertAnotherAdministrator(parts.people, record);
    return roles.length === record.roles.length ? undefined : { ...record, roles };
  });
}

function findRole(people: People, name: string): Role {
  const role = people.role(name);
  if (role === undefined) throw accessErrors.create('ACCESS_ROLE_UNKNOWN', { got: JSON.stringify(name.slice(0, 100)) });
  return role;
}

function ownRole(people: People, name: string): RoleRecord {
  const role = findRole(people, name);
  if (role.origin === 'file') throw ofFile(role);
  if (role.origin === 'shipped')
    throw accessErrors.create('ACCESS_READ_ONLY', { place: role.name, allowed: 'roles that you made; this one ships' });
  const record = people.roles.values().get(storeKey(rolePrefix, name));
  if (record === undefined)
    throw accessErrors.create('ACCESS_ROLE_UNKNOWN', { got: JSON.stringify(name.slice(0, 100)) });
  return record;
}

function ofFile({ name, file }: Role): Error {
  return accessErrors.create('ACCESS_ROLE_OF_FILE', { place: name, got: `the rule file ${file ?? ''}` });
}

function assertCovered(people: People, by: Identity, record: RoleRecord): void {
  if (!covers(by, rightsOf({}, [roleOfRecord(record)], people.streams())))
    throw accessErrors.create('ACCESS_FORBIDDEN', { allowed: 'rights that you have yourself' });
}

function roleOfRecord(record: Omit<RoleRecord, 'created_at'>): Role {
  return {
    ...record,
    read: record.read_all === true ? 'all' : record.read,
    audit: false,
    administrator: false,
    otherPermissions: [],
    origin: 'api',
    file: undefined,
  };
}

function checkDescription(text: string): string {
  if (text.length <= maxDescriptionLength) return text;
  throw accessErrors.create('ACCESS_VALUE_INVALID', {
    place: 'description',
    got: `${text.length} characters`,
    allowed: `at most ${maxDescriptionLength}`,
  });
}

function definitionOf(role: Role): RoleDefinition {
  return {
    name: role.name,
    description: role.description,
    permissions: rolePermissionTexts(role),
    readOnly: role.origin !== 'api',
    origin: role.origin,
    file: role.file,
  };
}
