/** Access as a whole: authentication and administration over the state store and the directory. */
import { isSluiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { buildMetrics, type Registry } from '../core/metrics.js';
import type { FileRole, Identity } from '../schemas/access.js';
import type { AccessOptions } from '../schemas/config/access.js';
import type { StateStore } from '../state/contract.js';
import type { Access, AccessAdministration, Credentials, Session } from './contract.js';
import { createDirectoryAdministration } from './directory/administration.js';
import { createMappingWarnings } from './directory/mapping-problems.js';
import { createDirectorySource } from './directory/source.js';
import { accessErrors } from './errors.js';
import { makeDefaultUsers } from './first-start.js';
import { createLogins, type Logins } from './authentication/login.js';
import { accessMetrics } from './metrics.js';
import { createAdministratorGuard } from './administration/parts.js';
import { createPasswords } from './authentication/passwords.js';
import { createPeople, identityOf, type People, type StreamOwner } from './rights/people.js';
import {
  readSession,
  readToken,
  sessionPrefix,
  tokenPrefix,
  type SessionRecord,
  type TokenRecord,
  type UserRecord,
} from './stored/records.js';
import type { StreamName } from './rights/rights.js';
import { createRoleAdministration } from './administration/roles.js';
import { createSecrets, type Secrets } from './stored/secrets.js';
import { createSweeper } from './stored/sweeper.js';
import { createThrottle, type Throttle } from './authentication/throttle.js';
import { createTokenAdministration } from './administration/tokens.js';
import { createUserAdministration } from './administration/users.js';
import { createVerified } from './authentication/verified.js';

export interface CreateAccessOptions {
  readonly settings: AccessOptions;
  readonly state: StateStore;
  /** Streams that exist now; the same array as long as they do not change. */
  readonly streams: () => readonly StreamName[];
  /** Roles of the rule files, and who created which stream; both as `streams`. Default: none. */
  readonly fileRoles?: (() => readonly FileRole[]) | undefined;
  readonly owners?: (() => readonly StreamOwner[]) | undefined;
  readonly registry: Registry;
  readonly log: Log;
  readonly now?: () => number;
  readonly throttle?: Throttle | undefined;
}

/** Notes of use are written at most this often for one session, and four times in its time to live for a short one. */
const noteSessionMs = 60_000;
const noteTokenMs = 5 * 60_000;

export function createAccess(options: CreateAccessOptions): Access & AccessAdministration {
  const { settings, state, streams, fileRoles, owners, registry, log, now = Date.now } = options;
  const metrics = buildMetrics(registry, accessMetrics);
  const people = createPeople({ state, log, streams, fileRoles, owners });
  const throttle = settings.throttle ? (options.throttle ?? createThrottle()) : undefined;
  const passwords = createPasswords({
    concurrency: settings.hash_concurrency,
    minimumLength: settings.minimum_password_length,
    onHash: () => metrics.hashes.inc(),
  });
  const sessions = createSecrets({
    state,
    prefix: sessionPrefix,
    read: readSession,
    encode: (random) => random.toString('hex'),
    log,
    now,
  });
  const tokens = createSecrets({ state, prefix: tokenPrefix, read: readToken, encode: base32, log, now });
  const source = createDirectorySource({ settings: settings.ldap, state, log });
  const verified = createVerified(settings.verified_for_ms, now);
  const warnOfMappings = createMappingWarnings(log);
  const logins = createLogins({ people, passwords, throttle, verified, source, warnOfMappings, metrics, log });
  const sweeper = createSweeper({ sessions, tokens, people, defaultTimeoutMs: settings.session_timeout_ms, log, now });
  const parts = {
    people,
    passwords,
    sessions,
    tokens,
    throttle,
    settings,
    logins,
    now,
    alone: createAdministratorGuard(people),
  };
  const authenticator = new Authenticator(parts);
  return {
    async start() {
      await Promise.all([people.start(), source.start()]);
      const directory = source.active();
      if (directory !== undefined) warnOfMappings(directory.settings, people.allRoles(), people.streams());
      sweeper.start();
    },
    makeDefaultUsers: () => makeDefaultUsers(state, people, passwords, settings.first_passwords),
    async stop() {
      throttle?.stop();
      await sweeper.stop();
      source.stop();
      people.stop();
      await Promise.all([sessions.stop(), tokens.stop()]);
    },
    authenticate: (credentials, from) =>
      counted(authenticator.identify(credentials, from.address), (outcome) => {
        metrics.authentications.inc({ kind: credentials.kind, outcome });
        metrics.attemptsWaiting.set(throttle?.waiting() ?? 0);
        metrics.users.set(people.users.values().size);
      }),
    openSession: (username, password, from) => authenticator.open(username, password, from.address),
    async closeSession(sessionId) {
      const session = await sessions.find(sessionId);
      const ended = await sessions.remove(sessionId);
      return ended && session !== undefined ? people.byId(session.user_id)?.username : undefined;
    },
    ...createUserAdministration(parts),
    ...createRoleAdministration(parts),
    ...createTokenAdministration(parts),
    ...createDirectoryAdministration({ source, people, throttle }),
  };
}

interface AuthenticatorParts {
  readonly people: People;
  readonly logins: Logins;
  readonly sessions: Secrets<SessionRecord>;
  readonly tokens: Secrets<TokenRecord>;
  readonly settings: AccessOptions;
  readonly now: () => number;
}

class Authenticator {
  readonly #parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  async identify(credentials: Credentials, address: string): Promise<Identity> {
    switch (credentials.kind) {
      case 'password':
        return this.#identity(
          await this.#parts.logins.login(credentials.username, credentials.password, address),
          'password',
        );
      case 'session':
        return this.#identity(await this.#userOfSession(credentials.sessionId), 'session', credentials.sessionId);
      case 'token':
        return this.#identity(await this.#userOfToken(credentials.token), 'token');
    }
  }

  async open(username: string, password: string, address: string): Promise<Session> {
    const { logins, sessions, now } = this.#parts;
    const user = await logins.login(username, password, address);
    if (user.service_account) throw accessErrors.create('ACCESS_DENIED');
    const at = now();
    const sessionId = await sessions.create({
      user_id: user.id,
      generation: user.generation,
      created_at: at,
      used_at: at,
      address,
    });
    return { sessionId, userId: user.id, username: user.username, validUntil: at + this.#timeoutOf(user) };
  }

  async #userOfSession(sessionId: string): Promise<UserRecord> {
    const { sessions, now } = this.#parts;
    const session = await sessions.find(sessionId);
    if (session === undefined) throw accessErrors.create('ACCESS_DENIED');
    const user = await this.#ownerOf(session.user_id, session.generation);
    if (user === undefined) await sessions.remove(sessionId);
    if (user === undefined || !user.enabled || session.generation !== user.generation)
      throw accessErrors.create('ACCESS_DENIED');
    const timeout = this.#timeoutOf(user);
    if (now() - session.used_at >= timeout) throw accessErrors.create('ACCESS_DENIED');
    sessions.used(sessionId, Math.min(noteSessionMs, timeout / 4));
    return user;
  }

  async #userOfToken(token: string): Promise<UserRecord> {
    const { tokens, now } = this.#parts;
    const found = await tokens.find(token);
    if (found === undefined || (found.expires_at !== undefined && found.expires_at <= now()))
      throw accessErrors.create('ACCESS_DENIED');
    const user = await this.#ownerOf(found.user_id, 0);
    if (user === undefined) await tokens.remove(token);
    if (user === undefined || !user.enabled) throw accessErrors.create('ACCESS_DENIED');
    tokens.used(token, noteTokenMs);
    return user;
  }

  /** A user that another process made or changed a moment ago is looked for in the state before the answer is no. */
  async #ownerOf(userId: string, generation: number): Promise<UserRecord | undefined> {
    const { people } = this.#parts;
    const user = people.byId(userId);
    if (user !== undefined && user.generation >= generation) return user;
    await people.users.refresh();
    return people.byId(userId);
  }

  #timeoutOf(user: UserRecord): number {
    return user.session_timeout_ms ?? this.#parts.settings.session_timeout_ms;
  }

  #identity(user: UserRecord, by: Identity['by'], sessionId?: string): Identity {
    return identityOf(user, this.#parts.people.rightsOf(user), by, sessionId);
  }
}

async function counted(identifying: Promise<Identity>, count: (outcome: string) => void): Promise<Identity> {
  try {
    const identity = await identifying;
    count('accepted');
    return identity;
  } catch (thrown) {
    count(outcomeOf(thrown));
    throw thrown;
  }
}

function outcomeOf(thrown: unknown): string {
  const outcomes: Readonly<Record<string, string>> = {
    ACCESS_DENIED: 'denied',
    ACCESS_THROTTLED: 'throttled',
    ACCESS_DIRECTORY_UNAVAILABLE: 'unavailable',
  };
  return (isSluiceError(thrown) ? outcomes[thrown.code] : undefined) ?? 'failed';
}

/** RFC 4648, lower case, without padding. */
function base32(bytes: Buffer): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567';
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => letters[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}
