/** Users who are known elsewhere: one question a login. */
import type { LdapOptions } from '../../schemas/config/ldap.js';
import type { Identity } from '../../schemas/access.js';

/** What the directory says of a user who proved the password. */
export interface DirectoryUser {
  readonly dn: string;
  readonly username: string;
  readonly fullName: string;
  readonly email: string;
  /** Distinguished names of the groups. */
  readonly groups: readonly string[];
}

export interface Directory {
  /**
   * Undefined: unknown there, or another password. Rejects with ACCESS_DIRECTORY_UNAVAILABLE or
   * ACCESS_DIRECTORY_REFUSED.
   */
  login(username: string, password: string): Promise<DirectoryUser | undefined>;
  /** Connects, binds and reads the search base. Rejects with what went wrong, in words. */
  test(): Promise<void>;
}

export interface DirectorySettings {
  /** The settings file enables it: the API cannot change it. */
  readonly fromFile: boolean;
  /** Without the password of bind_dn. */
  readonly settings: Omit<LdapOptions, 'bind_password'>;
  readonly passwordSet: boolean;
}

export interface LoginTest {
  readonly success: boolean;
  /** What happened, for the person who sets it up. */
  readonly message: string;
  readonly user?: DirectoryUser | undefined;
  /** What the mappings make of it. */
  readonly roles?: readonly string[] | undefined;
  readonly streams?: readonly string[] | undefined;
}

export interface DirectoryAdministration {
  directory(by: Identity): Promise<DirectorySettings>;
  /** Whether users of a directory can log in. */
  directoryEnabled(): boolean;
  /** What is left out stays as it is. */
  setDirectory(by: Identity, settings: Partial<LdapOptions>): Promise<DirectorySettings>;
  /** With the given settings, or with those in force. Never rejects for what the directory answers. */
  testConnection(
    by: Identity,
    settings?: Partial<LdapOptions>,
  ): Promise<{ readonly success: boolean; readonly message: string }>;
  testLogin(by: Identity, username: string, password: string, settings?: Partial<LdapOptions>): Promise<LoginTest>;
}
