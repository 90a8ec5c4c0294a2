/**
 * People, what they may do, and how they prove who they are. Built over the state store; the API asks it once per
 * request.
 */
import type { Capability, Identity } from '../schemas/access.js';
import type { DirectoryAdministration } from './directory/contract.js';

/** What a request brought. */
export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'token'; readonly token: string };

export interface Session {
  /** Shown to its owner only once; the store knows its SHA-256. */
  readonly sessionId: string;
  readonly userId: string;
  readonly username: string;
  /** Milliseconds since the epoch; moves on with every use. */
  readonly validUntil: number;
}

export interface Access {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Rejects with ACCESS_DENIED (one answer for unknown names, wrong passwords and ended sessions), ACCESS_THROTTLED
   * (with retryAfterMs) or ACCESS_DIRECTORY_UNAVAILABLE (retryable).
   */
  authenticate(credentials: Credentials, from: { readonly address: string }): Promise<Identity>;
  openSession(
    username: string,
    password: string,
    from: { readonly address: string; readonly host?: string | undefined },
  ): Promise<Session>;
  /** Resolves with the name of whose it was; with undefined for an unknown one. */
  closeSession(sessionId: string): Promise<string | undefined>;
}

/** A user that the first start made. */
export interface FirstPassword {
  readonly username: string;
  /** Undefined: it is the one of the settings. */
  readonly password: string | undefined;
}

export interface User {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  /** Names as the roles are written. */
  readonly roles: readonly string[];
  /** In the words of the API: `streams:read:<24 hexadecimal characters>`, capabilities; `*` of administrators. */
  readonly permissions: readonly string[];
  readonly sessionTimeoutMs: number;
  readonly timezone: string | undefined;
  readonly startpage: unknown;
  readonly preferences: Readonly<Record<string, unknown>>;
  readonly serviceAccount: boolean;
  readonly enabled: boolean;
  /** Comes from the directory and has no password here. */
  readonly external: boolean;
}

/** What can be set; what is undefined stays, or is the default of a new user. */
export interface UserChange {
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly sessionTimeoutMs?: number | undefined;
  readonly timezone?: string | undefined;
  readonly startpage?: unknown;
  readonly preferences?: Readonly<Record<string, unknown>> | undefined;
  readonly serviceAccount?: boolean | undefined;
}

export interface Role {
  readonly name: string;
  readonly description: string;
  /**
   * Ids of streams, or 24 hexadecimal characters of ones that do not exist yet. `all`: also of streams that come later.
   */
  readonly read: 'all' | readonly string[];
  readonly edit: 'all' | readonly string[];
  /** Whether the stream Audit logs may be read. */
  readonly audit: boolean;
  readonly administrator: boolean;
  readonly capabilities: readonly Capability[];
  readonly otherPermissions: readonly string[];
  readonly origin: 'shipped' | 'file' | 'api';
  /** The rule file; only with origin `file`. */
  readonly file: string | undefined;
}

export interface RoleDefinition {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly readOnly: boolean;
  readonly origin: 'shipped' | 'file' | 'api';
  /** The rule file in which it is changed; only with origin `file`. */
  readonly file: string | undefined;
}

export interface SessionActivity {
  readonly active: boolean;
  readonly lastActivity: number | undefined;
  readonly address: string | undefined;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastAccess: number | undefined;
  readonly expiresAt: number | undefined;
}

export interface PasswordChange {
  readonly password: string;
  /** Needed of oneself. */
  readonly old: string | undefined;
  /** Where the request comes from: wrong attempts are counted by it. */
  readonly address: string;
}

export interface UserAdministration {
  /**
   * Once, at the first start; resolves with what was made now. Called when nothing can fail any more before the
   * passwords are shown.
   */
  makeDefaultUsers(): Promise<readonly FirstPassword[]>;
  /** Those that `by` may see: all with users:edit or system administrators, else oneself. */
  users(by: Identity): readonly User[];
  /**
   * By name (any case) or id. Rejects with ACCESS_USER_UNKNOWN or, for another user without the right,
   * ACCESS_FORBIDDEN.
   */
  user(by: Identity, nameOrId: string): User;
  createUser(by: Identity, username: string, password: string, change: UserChange): Promise<User>;
  changeUser(by: Identity, nameOrId: string, change: UserChange): Promise<User>;
  /** Ends the sessions of the user. Of oneself the old one is needed. */
  setPassword(by: Identity, nameOrId: string, change: PasswordChange): Promise<void>;
  /** False: it was so already. Disabling ends the sessions. */
  setEnabled(by: Identity, nameOrId: string, enabled: boolean): Promise<boolean>;
  deleteUser(by: Identity, nameOrId: string): Promise<void>;
  /** By user id, of all users with a session that has not ended. */
  sessions(by: Identity): Promise<ReadonlyMap<string, SessionActivity>>;
}

/** What is undefined stays. */
export interface RoleChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly permissions?: readonly string[] | undefined;
}

export interface RoleAdministration {
  roles(): readonly RoleDefinition[];
  role(name: string): RoleDefinition;
  createRole(by: Identity, name: string, description: string, permissions: readonly string[]): Promise<RoleDefinition>;
  changeRole(by: Identity, name: string, change: RoleChange): Promise<RoleDefinition>;
  /** Its members lose it. */
  deleteRole(by: Identity, name: string): Promise<void>;
  members(by: Identity, role: string): readonly User[];
  addMember(by: Identity, role: string, nameOrId: string): Promise<void>;
  removeMember(by: Identity, role: string, nameOrId: string): Promise<void>;
}

export interface TokenAdministration {
  tokens(by: Identity, nameOrId: string): Promise<readonly Token[]>;
  /** The secret is shown this once. `ttlMs` undefined: the setting; 0: it does not end. */
  createToken(
    by: Identity,
    nameOrId: string,
    name: string,
    ttlMs: number | undefined,
  ): Promise<Token & { readonly secret: string }>;
  /** By id or by the secret itself. Resolves with what was deleted. */
  deleteToken(by: Identity, nameOrId: string, idOrSecret: string): Promise<Token>;
}

export type AccessAdministration = UserAdministration &
  RoleAdministration &
  TokenAdministration &
  DirectoryAdministration;
