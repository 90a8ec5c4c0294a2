/** The roles that ship. They are no records: what they mean comes with the program. */
import { allCapabilities, type shippedRoleNames } from '../../schemas/access.js';
import { keyOfName } from '../../core/names.js';
import type { Role } from '../contract.js';

const shipped = {
  edit: [],
  audit: false,
  administrator: false,
  capabilities: ['views:edit', 'system:read'],
  otherPermissions: [],
  origin: 'shipped',
  file: undefined,
} as const;

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
