/** What the administration of users, roles and tokens works with. */
import type { Capability, Identity } from '../../schemas/access.js';
import type { AccessOptions } from '../../schemas/config/access.js';
import { accessErrors } from '../errors.js';
import { storeKey } from '../stored/names.js';
import type { Passwords } from '../authentication/passwords.js';
import type { People } from '../rights/people.js';
import { userPrefix, type SessionRecord, type TokenRecord, type UserRecord } from '../stored/records.js';
import type { Secrets } from '../stored/secrets.js';
import type { Throttle } from '../authentication/throttle.js';

export interface AdministrationParts {
  readonly people: People;
  readonly passwords: Passwords;
  readonly sessions: Secrets<SessionRecord>;
  readonly tokens: Secrets<TokenRecord>;
  readonly throttle: Throttle | undefined;
  readonly settings: AccessOptions;
  readonly now: () => number;
  readonly alone: AdministratorGuard;
}

export function assertMay(by: Identity, capability: Capability): void {
  if (!by.administrator && !by.capabilities.has(capability))
    throw accessErrors.create('ACCESS_FORBIDDEN', { allowed: `an administrator, or a role with ${capability}` });
}

/** Another user without the right to see users: forbidden whether there is one of that name or not. */
export function findUser({ people }: Pick<AdministrationParts, 'people'>, by: Identity, nameOrId: string): UserRecord {
  const user = people.find(nameOrId);
  if (user?.id !== by.userId) assertMay(by, 'users:edit');
  if (user === undefined)
    throw accessErrors.create('ACCESS_USER_UNKNOWN', { got: JSON.stringify(nameOrId.slice(0, 100)) });
  return user;
}

export async function changeRecord(
  { people }: Pick<AdministrationParts, 'people'>,
  user: UserRecord,
  change: (user: UserRecord) => UserRecord | undefined,
): Promise<UserRecord> {
  const kept = await people.users.change(storeKey(userPrefix, user.username), (now) =>
    now.id === user.id ? change(now) : undefined,
  );
  if (kept?.id !== user.id) throw accessErrors.create('ACCESS_USER_UNKNOWN', { got: JSON.stringify(user.username) });
  return kept;
}

/**
 * Runs changes of what decides who is an administrator one after the other, each on what is stored now. Two programs
 * that each remove one of the last two administrators in the same instant are not kept apart.
 */
type AdministratorGuard = <Result>(change: () => Promise<Result>) => Promise<Result>;

export function createAdministratorGuard(people: People): AdministratorGuard {
  let last: Promise<unknown> = Promise.resolve();
  return (change) => {
    const result = last.then(async () => {
      await people.users.refresh();
      return change();
    });
    last = result.catch(() => undefined);
    return result;
  };
}

/** An administrator of the directory does not count: the directory may be away. */
export function assertAnotherAdministrator(people: People, without: UserRecord): void {
  if (!isAdministrator(without)) return;
  const others = [...people.users.values().values()].filter((user) => user.id !== without.id && isAdministrator(user));
  if (others.length === 0)
    throw accessErrors.create('ACCESS_LAST_ADMINISTRATOR', { got: JSON.stringify(without.username) });
}

function isAdministrator(user: UserRecord): boolean {
  return user.enabled && !user.external && user.roles.includes('administrator');
}
