/**
 * Access lines, as existing audit rules and reports read them:
 *   [2020-01-01T10:00:00,001][DEBUG]192.0.2.7 alice [-] "GET api/users/alice" curl/8 200 -1
 * Time in UTC; `-` for the user before authentication; path without the leading slash; size always -1. Nothing that a
 * client sends can end the line, its quotes or its user slot: such characters are written as %XX.
 */

interface AccessLine {
  readonly at: number;
  readonly address: string;
  readonly user: string | undefined;
  readonly method: string;
  /** As it was sent, with the query string. */
  readonly url: string;
  readonly agent: string | undefined;
  readonly status: number;
}

/** Longer ones are cut: they come from strangers. */
const maxPath = 1_000;
const maxAgent = 300;
export const maxUser = 200;

export function accessLine({ at, address, user, method, url, agent, status }: AccessLine): string {
  const path = quoted(url.split('?')[0]?.replace(/^\/+/, '') ?? '', maxPath);
  return `[${lineTime(at)}][DEBUG]${address} ${user === undefined ? '-' : word(user, maxUser)} [-] "${method} ${path}" ${agent === undefined || agent === '' ? '-' : agentText(agent)} ${status} -1`;
}

/** Stands beside the access line of a failed login. */
export function failedLoginLine(at: number, username: string): string {
  return `[${lineTime(at)}][INFO]Invalid credentials in session create request. Actor: "urn:sluice:user:${word(username, maxUser)}"`;
}

/** Only these are audit events: login, the user lookup that follows it, logout, change of a password. */
export function isSecurityEvent(method: string, url: string): boolean {
  const path = pathOf(url);
  if (method === 'POST') return path === '/api/system/sessions';
  if (method === 'DELETE') return /^\/api\/system\/sessions(?:\/[^/]+)?$/.test(path);
  if (method === 'PUT') return /^\/api\/users\/[^/]+\/password$/.test(path);
  return method === 'GET' && /^\/api\/users\/(?!paginated$)[^/]+$/.test(path);
}

/** As the router reads it. */
function pathOf(url: string): string {
  const path = (url.split('?')[0] ?? '').replace(/\/$/, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** A session that was not ended is still a key; its id does not belong into a log. */
export function withoutLiveSession(url: string, status: number): string {
  return status < 400 || !pathOf(url).startsWith('/api/system/sessions/')
    ? url
    : url.replace(/^((?:\/[^/]+){3}\/)[^/?]+/, '$1-');
}

function lineTime(at: number): string {
  return new Date(at).toISOString().slice(0, 23).replace('.', ',');
}

const percent = (text: string): string =>
  [...Buffer.from(text, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
/** Controls, line and paragraph separators, and marks that turn the direction of text. */
const controls = /[\p{Cc}\p{Cf}\u2028\u2029\p{Cs}]/gu;

const quoted = (text: string, most: number): string =>
  cut(text, most)
    .replace(/[\s"\\]/gu, percent)
    .replace(controls, percent);
const word = (text: string, most: number): string =>
  cut(text, most)
    .replace(/[\s"\\[\]]/gu, percent)
    .replace(controls, percent);
const agentText = (text: string): string => cut(text, maxAgent).replace(/["\\]/gu, percent).replace(controls, percent);

/** Text from outside, made fit to stand in one line of a record. */
export const oneLine = (text: string, most = maxPath): string => cut(text, most).replace(controls, percent);

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}
