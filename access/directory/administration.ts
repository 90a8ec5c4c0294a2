/** The directory, set and tried by an administrator. Its password goes in and never comes out. */
import { errorText, isSluiceError } from '../../core/errors.js';
import type { LdapOptions } from '../../schemas/config/ldap.js';
import { accessErrors } from '../errors.js';
import { assertMay } from '../administration/parts.js';
import type { People } from '../rights/people.js';
import type { Throttle } from '../authentication/throttle.js';
import type { DirectoryAdministration, DirectorySettings, DirectoryUser, LoginTest } from './contract.js';
import { checkLdapSettings, createLdapDirectory } from './ldap.js';
import { assertMappings } from './mapping-problems.js';
import { rightsByGroups } from './mapping.js';
import type { DirectorySource } from './source.js';

interface DirectoryParts {
  readonly source: DirectorySource;
  readonly people: People;
  readonly throttle: Throttle | undefined;
}

export function createDirectoryAdministration({ source, people, throttle }: DirectoryParts): DirectoryAdministration {
  const shown = (): DirectorySettings => {
    const { bind_password: password, ...settings } = source.settings();
    return { fromFile: source.fromFile, settings, passwordSet: password !== '' };
  };
  /** The kept password goes only where it went before: new servers need it typed again. */
  const merged = (change: Partial<LdapOptions>): LdapOptions => {
    const kept = source.settings();
    const settings = { ...kept, ...change };
    const sameServers =
      settings.urls.every((url) => kept.urls.includes(url)) &&
      settings.bind_dn === kept.bind_dn &&
      (settings.reject_unauthorized || !kept.reject_unauthorized) &&
      (settings.start_tls || !kept.start_tls) &&
      settings.ca_file === kept.ca_file;
    return { ...settings, bind_password: change.bind_password ?? (sameServers ? kept.bind_password : '') };
  };
  return {
    directoryEnabled: () => source.active() !== undefined,
    async directory(by) {
      assertMay(by, 'authentication:edit');
      return shown();
    },
    async setDirectory(by, settings) {
      assertMay(by, 'authentication:edit');
      if (source.fromFile)
        throw accessErrors.create('ACCESS_READ_ONLY', {
          place: 'access.ldap',
          allowed: 'a change of the settings file, which sets it',
        });
      if (!by.administrator)
        throw accessErrors.create('ACCESS_FORBIDDEN', {
          allowed: 'an administrator: the directory decides who becomes one',
        });
      assertMappings(settings, people.allRoles(), people.streams());
      const next = merged(withoutUndefined(settings));
      if (next.enabled) checkLdapSettings(next);
      await source.set(next);
      return shown();
    },
    async testConnection(by, settings = {}) {
      assertMay(by, 'authentication:edit');
      return telling(async () => {
        const tried = merged(withoutUndefined(settings));
        checkLdapSettings(tried);
        await createLdapDirectory(tried).test();
        return { success: true, message: 'The directory answers, and the search base is there.' };
      });
    },
    async testLogin(by, username, password, settings = {}) {
      assertMay(by, 'authentication:edit');
      // A wrong password counts as a wrong login: a test is no place to guess from.
      const attempt = await throttle?.attempt(username, `tests of ${by.userId}`);
      return telling(
        async () => {
          assertMappings(settings, people.allRoles(), people.streams());
          const tried = merged(withoutUndefined(settings));
          checkLdapSettings(tried);
          const user = await createLdapDirectory(tried).login(username, password);
          if (user === undefined) attempt?.failed();
          else attempt?.succeeded();
          return user === undefined
            ? { success: false, message: 'The directory knows no such user, or the password is another one.' }
            : outcomeOf(people, tried, user);
        },
        () => attempt?.abandoned(),
      );
    },
  };
}

/** What the settings make of a user whose password is right. */
function outcomeOf(people: People, settings: LdapOptions, user: DirectoryUser): LoginTest {
  const { roles, read, edit } = rightsByGroups(settings, user.groups, people.allRoles(), people.streams());
  const local = people.byName(user.username);
  const isLocal = local !== undefined && !local.external;
  const outcome =
    roles.length > 0
      ? 'The login succeeds.'
      : 'The password is right, but no role fits the groups of this user: the login is refused.';
  const message = isLocal ? 'The password is right, but a local user has this name and comes first.' : outcome;
  return {
    success: roles.length > 0 && !isLocal,
    message,
    user,
    roles,
    streams: [...read.map((id) => `${id}/view`), ...edit.map((id) => `${id}/edit`)],
  };
}

/** What goes wrong is the answer. */
async function telling<Outcome>(
  test: () => Promise<Outcome>,
  onFailure: () => void = () => undefined,
): Promise<Outcome | { readonly success: false; readonly message: string }> {
  try {
    return await test();
  } catch (thrown) {
    onFailure();
    if (!isSluiceError(thrown)) throw thrown;
    return { success: false, message: errorText(thrown) };
  }
}

function withoutUndefined(settings: Partial<Record<keyof LdapOptions, unknown>>): Partial<LdapOptions> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
