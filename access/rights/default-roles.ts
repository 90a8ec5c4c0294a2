/** The roles that ship. They are no records: what they mean comes with the program. */
import { allCapabilities, type Capability, type shippedRoleNames } from '../../schemas/access.js';
import { keyOfName } from '../../core/names.js';

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

const shipped = {
  edit: [],
  audit: false,
  administrator: false,
  capabilities: ['views:edit', 'system:read'],
  otherPermissions: [],
  origin: 'shipped',
  file: undefined,
} as const;

export const administratorRole = 'administrator';

const list: readonly (Role & { readonly name: (typeof shippedRoleNames)[number] })[] = [
  {
    ...shipped,
    name: 'Administrator',
    description: 'Full rights on the system.',
    read: 'all',
    edit: 'all',
    audit: true,
    administrator: true,
    capabilities: allCapabilities,
  },
  {
    ...shipped,
    name: 'Reader',
    description: 'Read-only: sees the state of the system and keeps own searches; opens no stream by itself.',
    read: [],
  },
  { ...shipped, name: 'Operator', description: 'Read-only on all streams except Audit logs.', read: 'all' },
  {
    ...shipped,
    name: 'AuditViewer',
    description: 'Read-only on all streams.',
    read: 'all',
    audit: true,
    capabilities: [...shipped.capabilities, 'audit:read'],
  },
];

export const defaultRoles: ReadonlyMap<string, Role> = new Map(list.map((role) => [keyOfName(role.name), role]));

export interface DefaultUser {
  readonly username: string;
  readonly roles: readonly string[];
  readonly setting: 'admin' | 'operator' | 'audit_viewer';
}

export const defaultUsers: readonly DefaultUser[] = [
  { username: 'Admin', roles: ['administrator'], setting: 'admin' },
  { username: 'Operator', roles: ['reader', 'operator'], setting: 'operator' },
  { username: 'AuditViewer', roles: ['reader', 'auditviewer'], setting: 'audit_viewer' },
];
