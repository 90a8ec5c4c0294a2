/** What access keeps in the state store. Records of a key are read by every running program: new fields are optional. */
import type { Capability } from '../../schemas/access.js';

export interface UserRecord {
  readonly id: string;
  readonly username: string;
  /** PHC text; a user of the directory has none. */
  readonly password_hash?: string | undefined;
  readonly external: boolean;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  /** Lower-case names. */
  readonly roles: readonly string[];
  /** Streams that the directory's stream_mapping gave: ids, or 24 hexadecimal characters. */
  readonly read_streams?: readonly string[] | undefined;
  readonly edit_streams?: readonly string[] | undefined;
  /** Undefined: the setting. */
  readonly session_timeout_ms?: number | undefined;
  readonly timezone?: string | undefined;
  readonly startpage?: unknown;
  readonly preferences?: Readonly<Record<string, unknown>> | undefined;
  readonly service_account: boolean;
  readonly enabled: boolean;
  /** Goes up with the password and whenever the sessions of the user end: a session of an older one is not valid. */
  readonly generation: number;
  readonly created_at: number;
  readonly password_changed_at?: number | undefined;
}

export interface RoleRecord {
  readonly name: string;
  readonly description: string;
  /** Ids of streams, or 24 hexadecimal characters of ones that did not exist then. */
  readonly read: readonly string[];
  readonly edit: readonly string[];
  /** Every stream that is not kept for administrators. */
  readonly read_all?: boolean | undefined;
  readonly capabilities: readonly Capability[];
  /** As they came, for scripts that read them back; without an effect. */
  readonly other_permissions: readonly string[];
  readonly created_at: number;
}

export interface SessionRecord {
  readonly user_id: string;
  readonly generation: number;
  readonly created_at: number;
  readonly used_at: number;
  readonly address: string;
}

export interface TokenRecord {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly created_at: number;
  readonly used_at?: number | undefined;
  /** Undefined: until it is deleted. */
  readonly expires_at?: number | undefined;
}

export const userPrefix = 'users/';
export const rolePrefix = 'roles/';
export const sessionPrefix = 'sessions/';
export const tokenPrefix = 'tokens/';
