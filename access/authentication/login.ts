/**
 * Login by name and password. Local users come first; the directory is asked only about names that are not among them.
 */
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import { isConflict } from '../stored/collection.js';
import type { DirectoryUser } from '../directory/contract.js';
import type { MappingWarnings } from '../directory/mapping-problems.js';
import { rightsByGroups, type MappedRights } from '../directory/mapping.js';
import type { ActiveDirectory, DirectorySource } from '../directory/source.js';
import { accessErrors } from '../errors.js';
import { newUser } from '../first-start.js';
import type { accessMetrics } from '../metrics.js';
import { keyOfName } from '../../core/names.js';
import { checkName, storeKey } from '../stored/names.js';
import type { Passwords } from './passwords.js';
import type { People } from '../rights/people.js';
import { userPrefix, type UserRecord } from '../stored/records.js';
import type { Attempt, Throttle } from './throttle.js';
import type { Verified } from './verified.js';
import { accessEvents } from '../events.js';

interface LoginParts {
  readonly people: People;
  readonly passwords: Passwords;
  readonly throttle: Throttle | undefined;
  readonly verified: Verified;
  readonly source: DirectorySource;
  readonly warnOfMappings: MappingWarnings;
  readonly metrics: BuiltMetrics<typeof accessMetrics>;
  readonly log: Log;
}

export interface Logins {
  /**
   * Resolves with the user whose password it is. Rejects with ACCESS_DENIED, ACCESS_THROTTLED or the directory's
   * errors.
   */
  login(username: string, password: string, address: string): Promise<UserRecord>;
}

const unthrottled: Attempt = {
  known: true,
  succeeded: () => undefined,
  failed: () => undefined,
  abandoned: () => undefined,
};

export function createLogins(parts: LoginParts): Logins {
  const { people, throttle, verified, source } = parts;
  const attempt = async (username: string, password: string, address: string): Promise<UserRecord> => {
    const { known, succeeded, failed, abandoned } = (await throttle?.attempt(username, address)) ?? unthrottled;
    // Settings that change while it is asked must not find this answer again.
    const directory = source.active();
    const user = await check(parts, directory, { username, password, known }).catch((error: unknown) => {
      abandoned();
      throw error;
    });
    if (user === undefined) {
      failed();
      throw accessErrors.create('ACCESS_DENIED');
    }
    succeeded();
    verified.keep(keyOfName(username), password, {
      userId: user.id,
      generation: user.generation,
      directory: user.external ? directory : undefined,
    });
    return user;
  };
  return {
    async login(username, password, address) {
      // Some directories take an empty password for an anonymous bind, which succeeds.
      if (username === '' || password === '') throw accessErrors.create('ACCESS_DENIED');
      const known = verified.find(keyOfName(username), password);
      const user = known === undefined ? undefined : people.byId(known.userId);
      if (
        user !== undefined &&
        user.enabled &&
        user.generation === known?.generation &&
        known.directory === (user.external ? source.active() : undefined)
      )
        return user;
      return verified.once(`${address} ${keyOfName(username)}`, password, () => attempt(username, password, address));
    },
  };
}

async function check(
  parts: LoginParts,
  directory: ActiveDirectory | undefined,
  { username, password, known }: { readonly username: string; readonly password: string; readonly known: boolean },
): Promise<UserRecord | undefined> {
  const { people, passwords } = parts;
  const user = people.byName(username);
  if ((user === undefined || user.external) && directory !== undefined)
    return viaDirectory(parts, directory, username, password);
  const matches = await passwords.verify(user?.password_hash, password, known);
  // The record may have changed while the hash was made.
  const now = people.byName(username);
  return matches && now !== undefined && now.enabled && now.password_hash === user?.password_hash ? now : undefined;
}

async function viaDirectory(
  parts: LoginParts,
  { directory, settings }: ActiveDirectory,
  username: string,
  password: string,
): Promise<UserRecord | undefined> {
  const { people, log, metrics } = parts;
  const found = await directory.login(username, password).catch((error: unknown) => {
    metrics.directoryCalls.inc({ outcome: 'unavailable' });
    accessEvents.directoryUnasked(log, { error: errorText(error) });
    throw accessErrors.create('ACCESS_DIRECTORY_UNAVAILABLE');
  });
  metrics.directoryCalls.inc({ outcome: found === undefined ? 'denied' : 'accepted' });
  if (found === undefined) return undefined;
  parts.warnOfMappings(settings, people.allRoles(), people.streams());
  const mapped = rightsByGroups(settings, found.groups, people.allRoles(), people.streams());
  if (mapped.roles.length === 0) {
    accessEvents.roleMissed(log, { user: found.username });
    return undefined;
  }
  return keepUser(parts, found, mapped);
}

/** The directory decides about its users at each login. Only differences are written. */
async function keepUser(
  { people, log }: LoginParts,
  found: DirectoryUser,
  mapped: MappedRights,
): Promise<UserRecord | undefined> {
  const username = checkName('the name of a user of the directory', found.username);
  const key = storeKey(userPrefix, username);
  const [firstName = '', ...lastNames] = found.fullName.split(' ');
  const change = (user: UserRecord): UserRecord => ({
    ...user,
    email: found.email,
    first_name: firstName,
    last_name: lastNames.join(' '),
    roles: mapped.roles,
    read_streams: mapped.read,
    edit_streams: mapped.edit,
  });
  if (people.byName(username) === undefined) {
    await people.users.create(key, change({ ...newUser(username), external: true })).catch((thrown: unknown) => {
      if (!isConflict(thrown)) throw thrown;
    });
  }
  const kept = await people.users.change(key, (user) => {
    const changed = change(user);
    return user.external && JSON.stringify(changed) !== JSON.stringify(user) ? changed : undefined;
  });
  if (kept?.external === false) accessEvents.localNameTaken(log, { user: username });
  return kept?.external === true && kept.enabled ? kept : undefined;
}
