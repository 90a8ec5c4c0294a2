/** The users that ship are made once: one that was deleted does not come back. */
import { randomBytes } from 'node:crypto';
import type { AccessOptions } from '../schemas/config/access.js';
import type { StateStore } from '../state/contract.js';
import type { FirstPassword } from './contract.js';
import { isConflict } from './stored/collection.js';
import { defaultUsers, type DefaultUser } from './rights/default-roles.js';
import { storeKey } from './stored/names.js';
import { randomPassword, type Passwords } from './authentication/passwords.js';
import type { People } from './rights/people.js';
import { userPrefix, type UserRecord } from './stored/records.js';

const madeKey = 'settings/default_users_made';
/** As the users that deployments of peers make. */
const shippedTimeoutMs = 3_600_000;

/** Several processes may start at once: each user is made by one of them. */
export async function makeDefaultUsers(
  state: StateStore,
  people: People,
  passwords: Passwords,
  settings: AccessOptions['first_passwords'],
): Promise<readonly FirstPassword[]> {
  for (const { username, setting } of defaultUsers)
    if (settings[setting] !== '') passwords.check(username, settings[setting]);
  if ((await state.get(madeKey)) !== undefined) return [];
  const made: FirstPassword[] = [];
  for (const user of defaultUsers) {
    const set = settings[user.setting] === '' ? undefined : settings[user.setting];
    const password = set ?? randomPassword();
    if (people.byName(user.username) === undefined && (await make(people, user, await passwords.hash(password))))
      made.push({ username: user.username, password: set === undefined ? password : undefined });
  }
  await state.put(madeKey, true, undefined).catch((thrown: unknown) => {
    if (!isConflict(thrown)) throw thrown;
  });
  return made;
}

async function make(people: People, { username, roles }: DefaultUser, hash: string): Promise<boolean> {
  try {
    await people.users.create(storeKey(userPrefix, username), {
      ...newUser(username),
      password_hash: hash,
      roles,
      session_timeout_ms: shippedTimeoutMs,
    });
    return true;
  } catch (thrown) {
    if (isConflict(thrown)) return false;
    throw thrown;
  }
}

export function newUser(username: string): UserRecord {
  return {
    id: randomBytes(12).toString('hex'),
    username,
    external: false,
    email: '',
    first_name: '',
    last_name: '',
    roles: [],
    service_account: false,
    enabled: true,
    generation: 1,
    created_at: Date.now(),
  };
}
