/**
 * LDAP and Active Directory (RFC 4511): one connection a login: search bind, search, groups, bind as the user, gone.
 * Referrals are not followed: they would carry the password to a server that the settings do not name.
 */
import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure, type ConnectionOptions } from 'node:tls';
import { Client, FilterParser, InvalidCredentialsError, ResultCodeError, type Entry } from 'ldapts';
import { errorText, isSluiceError } from '../../core/errors.js';
import type { LdapOptions } from '../../schemas/config/ldap.js';
import { accessErrors } from '../errors.js';
import type { Directory, DirectoryUser } from './contract.js';

/** Logins at the directory at the same time; each holds a connection for as long as the directory takes. */
const maxConcurrent = 16;
const maxGroups = 1_000;
const maxNameLength = 256;

export function createLdapDirectory(settings: LdapOptions): Directory {
  let running = 0;
  let preferred = 0;
  /** On the first server that can be connected to, beginning with the one that answered last. */
  const onServer = async <Result>(ask: (client: Client) => Promise<Result>): Promise<Result> => {
    if (running >= maxConcurrent)
      throw accessErrors.create('ACCESS_DIRECTORY_UNAVAILABLE', { got: `${running} logins under way` });
    running += 1;
    try {
      const failures: string[] = [];
      for (let tried = 0; tried < settings.urls.length; tried += 1) {
        const at = (preferred + tried) % settings.urls.length;
        const url = settings.urls[at] ?? '';
        try {
          const result = await withClient(settings, url, ask);
          preferred = at;
          return result;
        } catch (thrown) {
          if (isSluiceError(thrown)) throw thrown;
          if (thrown instanceof ResultCodeError)
            throw accessErrors.create('ACCESS_DIRECTORY_REFUSED', {
              place: url,
              got: resultText(thrown),
              cause: thrown,
            });
          failures.push(`${url}: ${errorText(thrown)}`);
        }
      }
      throw accessErrors.create('ACCESS_DIRECTORY_UNAVAILABLE', { got: failures.join('; ') });
    } finally {
      running -= 1;
    }
  };
  return {
    login: async (username, password) => {
      if (username === '' || password === '' || username.length > maxNameLength) return undefined;
      return onServer((client) => login(settings, client, username, password));
    },
    test: () =>
      onServer(async (client) => {
        await bindForSearch(settings, client);
        await client.search(settings.search_base, { scope: 'base', attributes: ['1.1'], derefAliases: 'never' });
      }),
  };
}

/** Connects once: ldapts would connect again by itself, without StartTLS, and send the password over that. */
async function withClient<Result>(
  settings: LdapOptions,
  url: string,
  ask: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const tlsOptions: ConnectionOptions = {
    host,
    rejectUnauthorized: settings.reject_unauthorized,
    minVersion: 'TLSv1.2',
    ...(settings.ca_file === '' ? {} : { ca: readFileSync(settings.ca_file) }),
  };
  const sockets: Socket[] = [];
  const once =
    <Options extends unknown[]>(connect: (...options: Options) => Socket, most: number) =>
    (...options: Options): Socket => {
      if (sockets.length >= most) throw new Error('the connection was lost');
      const socket = connect(...options);
      sockets.push(socket);
      return socket;
    };
  const upgrades = settings.start_tls && url.startsWith('ldap://');
  const client = new Client({
    url,
    timeout: settings.timeout_ms,
    connectTimeout: settings.timeout_ms,
    strictDN: false,
    // With these it begins with TLS, whatever the address says.
    ...(url.startsWith('ldaps:') ? { tlsOptions } : {}),
    createConnection: once(connectPlain as (...options: unknown[]) => Socket, 1),
    createSecureConnection: once(
      connectSecure as (...options: unknown[]) => Socket,
      upgrades ? 2 : 1,
    ) as unknown as typeof connectSecure,
  });
  // Three answers at the most follow one another; a server that sends a byte now and then does not hold it for longer.
  let expire = (): void => undefined;
  const expired = new Promise<never>((_, reject) => {
    expire = () => reject(new Error(`no answer within ${settings.timeout_ms * 4} ms`));
  });
  const timer = setTimeout(() => expire(), settings.timeout_ms * 4);
  try {
    const asked = (async () => {
      if (upgrades) await client.startTLS(tlsOptions);
      return ask(client);
    })();
    return await Promise.race([asked, expired]);
  } finally {
    clearTimeout(timer);
    await client.unbind().catch(() => undefined);
    for (const socket of sockets) socket.on('error', () => undefined).destroy();
  }
}

async function bindForSearch({ bind_dn: dn, bind_password: password }: LdapOptions, client: Client): Promise<void> {
  if (dn === '') return;
  try {
    await client.bind(dn, password);
  } catch (thrown) {
    if (!(thrown instanceof ResultCodeError)) throw thrown;
    throw accessErrors.create('ACCESS_DIRECTORY_REFUSED', {
      place: 'access.ldap.bind_dn',
      got: `${resultText(thrown)}, for the bind as ${JSON.stringify(dn)}`,
      allowed: 'the distinguished name of an account that may search, with its password in access.ldap.bind_password',
      cause: thrown,
    });
  }
}

/** `InvalidCredentialsError` is `invalid credentials (49)`; what the server says of it comes behind. */
function resultText({ name, code, message }: ResultCodeError): string {
  const words = name
    .replace(/Error$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  const said = message.replace(/\s*Code: 0x[0-9a-f]+$/i, '').trim();
  return `${words} (${code})${said === '' ? '' : `: ${said}`}`;
}

async function login(
  settings: LdapOptions,
  client: Client,
  username: string,
  password: string,
): Promise<DirectoryUser | undefined> {
  await bindForSearch(settings, client);
  const {
    name_attribute: name,
    full_name_attribute: fullName,
    email_attribute: email,
    group_attribute: group,
  } = settings;
  const { searchEntries } = await client.search(settings.search_base, {
    scope: 'sub',
    derefAliases: 'never',
    sizeLimit: 2,
    filter: fillFilter(settings.search_filter, { user: username }),
    attributes: [name, fullName, email, group].filter((attribute) => attribute !== ''),
  });
  const [entry, another] = searchEntries;
  if (entry === undefined) return undefined;
  if (another !== undefined)
    throw accessErrors.create('ACCESS_DIRECTORY_REFUSED', {
      place: 'access.ldap.search_filter',
      got: 'more than one user',
      allowed: 'a filter that finds one',
    });
  const groups = [
    ...(group === '' ? [] : valuesOf(entry, group)),
    ...(await searchGroups(settings, client, entry.dn, username)),
  ];
  try {
    await client.bind(entry.dn, password);
  } catch (thrown) {
    if (thrown instanceof InvalidCredentialsError) return undefined;
    throw thrown;
  }
  const first = (attribute: string): string => (attribute === '' ? '' : (valuesOf(entry, attribute)[0] ?? ''));
  return {
    dn: entry.dn,
    username: first(name) || username,
    fullName: first(fullName),
    email: first(email),
    groups: [...new Set(groups)].slice(0, maxGroups),
  };
}

async function searchGroups(
  settings: LdapOptions,
  client: Client,
  dn: string,
  user: string,
): Promise<readonly string[]> {
  if (settings.group_search_base === '') return [];
  const filter = fillFilter(settings.group_search_filter, { dn, user });
  const { searchEntries } = await client.search(settings.group_search_base, {
    scope: 'sub',
    derefAliases: 'never',
    sizeLimit: maxGroups,
    filter,
    attributes: ['1.1'],
  });
  return searchEntries.map((entry) => entry.dn);
}

/** Attribute names come in any case. */
function valuesOf(entry: Entry, attribute: string): readonly string[] {
  const key = Object.keys(entry).find((name) => name.toLowerCase() === attribute.toLowerCase());
  const value = key === undefined ? [] : entry[key];
  return (Array.isArray(value) ? value : [value]).map(String).filter((text) => text !== '');
}

/**
 * RFC 4515: what means something in a filter is written as its two hexadecimal digits, so that a name stays a value.
 */
export function fillFilter(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? escapeValue(values[name] ?? '') : placeholder,
  );
}

function escapeValue(text: string): string {
  return text.replace(/[\p{Cc}\\*()&|!=<>~:/]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** Throws what cannot be used, before anything is asked. */
export function checkLdapSettings(settings: LdapOptions): void {
  const invalid = (place: string, got: string, allowed: string): Error =>
    accessErrors.create('ACCESS_DIRECTORY_SETTINGS_INVALID', { place: `access.ldap.${place}`, got, allowed });
  if (settings.urls.length === 0) throw invalid('urls', 'none', 'at least one server');
  for (const url of settings.urls)
    if (!URL.canParse(url)) throw invalid('urls', JSON.stringify(url), 'ldap://host:port or ldaps://host:port');
  if (settings.search_base === '') throw invalid('search_base', 'nothing', 'a distinguished name');
  if (!settings.search_filter.includes('{user}'))
    throw invalid('search_filter', JSON.stringify(settings.search_filter), 'a filter with {user}');
  for (const place of ['search_filter', 'group_search_filter'] as const) {
    if (place === 'group_search_filter' && settings.group_search_base === '') continue;
    try {
      FilterParser.parseString(fillFilter(settings[place], { user: 'u', dn: 'd' }));
    } catch (thrown) {
      throw invalid(place, errorText(thrown), 'a filter as RFC 4515 writes it');
    }
  }
  if (settings.bind_dn !== '' && settings.bind_password === '')
    throw invalid('bind_password', 'nothing, with bind_dn', 'its password: an empty one is an anonymous bind');
  if (settings.ca_file !== '') {
    try {
      readFileSync(settings.ca_file);
    } catch (thrown) {
      throw invalid('ca_file', errorText(thrown), 'a readable PEM file');
    }
  }
}
