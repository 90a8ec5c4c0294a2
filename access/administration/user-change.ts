/** What a change makes of a user, checked against the rules of each member. */
import { keyOfName } from '../../core/names.js';
import type { Identity } from '../../schemas/access.js';
import type { UserChange } from '../contract.js';
import { accessErrors } from '../errors.js';
import type { People } from '../rights/people.js';
import { covers, rightsOf } from '../rights/rights.js';
import type { UserRecord } from '../stored/records.js';
import { assertMay, type AdministrationParts } from './parts.js';

const maxTextLength = 254;
const maxPreferencesBytes = 16 * 1024;
const shortestTimeoutMs = 1_000;

export function appliedChange(
  { people, settings }: AdministrationParts,
  by: Identity,
  user: UserRecord,
  change: UserChange,
): UserRecord {
  const roles =
    change.roles === undefined || sameRoles(change.roles, user.roles)
      ? user.roles
      : rolesToGive(people, by, user, change.roles);
  const timeout = change.sessionTimeoutMs ?? user.session_timeout_ms;
  checkTimeout(timeout);
  const {
    email = user.email,
    firstName = user.first_name,
    lastName = user.last_name,
    timezone = user.timezone,
    startpage = user.startpage,
    preferences = user.preferences,
    serviceAccount = user.service_account,
  } = change;
  checkTexts({ email, first_name: firstName, last_name: lastName, timezone: timezone ?? '' });
  checkTimeZone(timezone);
  checkPreferences(startpage, preferences);
  return {
    ...user,
    roles,
    email,
    first_name: firstName,
    last_name: lastName,
    timezone,
    startpage,
    preferences,
    service_account: serviceAccount,
    session_timeout_ms: timeout === settings.session_timeout_ms ? (user.session_timeout_ms ?? timeout) : timeout,
  };
}

function checkTimeout(timeout: number | undefined): void {
  if (timeout === undefined || (Number.isSafeInteger(timeout) && timeout >= shortestTimeoutMs)) return;
  throw invalid('session_timeout_ms', String(timeout), `${shortestTimeoutMs} or more`);
}

function checkTexts(texts: Readonly<Record<string, string>>): void {
  for (const [place, text] of Object.entries(texts)) {
    if (text.length > maxTextLength || /\p{Cc}/u.test(text))
      throw invalid(place, `${text.length} characters`, `at most ${maxTextLength}, no control characters`);
  }
}

function checkTimeZone(timezone: string | undefined): void {
  if (timezone === undefined || timezone === '' || isTimeZone(timezone)) return;
  throw invalid('timezone', JSON.stringify(timezone), 'a name of the time zone database, such as Europe/Berlin');
}

function checkPreferences(startpage: unknown, preferences: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify([startpage, preferences]));
  if (bytes > maxPreferencesBytes) throw invalid('preferences', `${bytes} bytes`, `at most ${maxPreferencesBytes}`);
}

function invalid(place: string, got: string, allowed: string): Error {
  return accessErrors.create('ACCESS_VALUE_INVALID', { place, got, allowed });
}

export function directoryChange(
  { email, first_name: first, last_name: last }: UserRecord,
  change: UserChange,
): UserChange {
  const refuse = (place: string, got: string): Error =>
    accessErrors.create('ACCESS_READ_ONLY', {
      place,
      got: JSON.stringify(got.slice(0, maxTextLength)),
      allowed: 'what the directory says of its users, as it is',
    });
  if (change.email !== undefined && change.email !== email) throw refuse('email', change.email);
  const nameOf = (one: string, other: string): string => `${one} ${other}`.trim().replace(/\s+/g, ' ');
  const name = nameOf(change.firstName ?? first, change.lastName ?? last);
  if (name !== nameOf(first, last)) throw refuse('full_name', name);
  return { ...change, email: undefined, firstName: undefined, lastName: undefined };
}

/** Lower-case names. Both what is given and what is taken away must be within the rights of who does it. */
export function rolesToGive(
  people: People,
  by: Identity,
  user: UserRecord,
  names: readonly string[],
): readonly string[] {
  assertMay(by, 'users:edit');
  const keys = [...new Set(names.map((name) => keyOfName(people.role(name)?.name ?? name)))];
  const all = [...new Set([...keys, ...user.roles])];
  const roles = all.map((key) => ({ key, role: people.role(key) }));
  const unknown = roles.find(({ key, role }) => role === undefined && keys.includes(key));
  if (unknown !== undefined)
    throw accessErrors.create('ACCESS_VALUE_INVALID', {
      place: 'roles',
      got: JSON.stringify(unknown.key.slice(0, 100)),
      allowed: 'names of roles that there are',
    });
  const touched = roles
    .filter(({ key }) => keys.includes(key) !== user.roles.includes(key))
    .flatMap(({ role }) => role ?? []);
  if (touched.length > 0 && !covers(by, rightsOf({}, touched, people.streams())))
    throw accessErrors.create('ACCESS_FORBIDDEN', { allowed: 'roles whose rights you have yourself' });
  return keys;
}

export function sameRoles(names: readonly string[], roles: readonly string[]): boolean {
  const keys = new Set(names.map(keyOfName));
  return keys.size === roles.length && roles.every((key) => keys.has(key));
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
