/** The reference page of roles: what ships, what a capability opens, and what each route needs. */
import { stringify } from 'yaml';
import type { Role } from '../../../access/contract.js';
import { administratorCapabilities, allCapabilities, capabilities, type Capability } from '../../../schemas/access.js';
import type { RouteFacts } from '../route-table.js';

const needs: Readonly<Record<string, string>> = {
  public: 'nothing',
  authenticated: 'credentials',
  administrator: 'an administrator',
  'stream:read': 'reading of the stream',
  'stream:edit': 'editing of the stream',
};

const example = {
  roles: [
    {
      id: 'shop team',
      description: 'Who runs the shop.',
      read: ['system-logs', 'integration-logs'],
      edit: ['shop'],
      capabilities: ['views:edit', 'system:read'],
    },
  ],
};

export function rolesReference(routes: readonly RouteFacts[], shipped: readonly Role[]): string {
  const parts = [
    '# Roles, capabilities and routes',
    'Generated from `access/rights/default-roles.ts`, `schemas/access.ts` and the routes of the API; see [the guide](../access.md).',
    '## Roles that ship',
    table(['role', 'reads', 'edits', 'capabilities', 'for'], shipped.map(roleRow)),
    'Rights of several roles add up. Dead letters and the full rights of an administrator come with the role Administrator only; a message that is also in Audit logs is seen by nobody who may not read that stream.',
    '## Capabilities',
    table(
      ['capability', 'opens', 'an own role', 'comes with'],
      allCapabilities.map((capability) => capabilityRow(capability, shipped)),
    ),
    '## Permissions of a role',
    'A role made through the API lists permissions: capabilities, `streams:read:<id>` (Allow reading), `streams:edit:<id>` (Allow editing, which is reading too), with the id of the rule files or the 24 hexadecimal characters of the API, and `streams:read` for every stream but Audit logs, also those that come later.',
    'A role in a rule file says the same in words of its own; `read: all` stands for `streams:read`:',
    `\`\`\`yaml\n${stringify(example, { lineWidth: 0, flowCollectionPadding: false }).trimEnd()}\n\`\`\``,
    '## What each route needs',
    'Credentials: a password, a session or a token of any user. An administrator may ask everything. Every route that changes something needs the header `X-Requested-By` too. A stream that may not be read is not there: 404.',
    table(
      ['route', 'what it does', 'needs', 'and'],
      [...routes]
        .sort(byPath)
        .map(({ method, url, summary, permission = '', checks = '' }) => [
          `\`${method} ${url}\``,
          summary,
          needs[permission] ?? `\`${permission}\``,
          checks,
        ]),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

function roleRow({ name, description, read, edit, audit, administrator, capabilities: held }: Role): readonly string[] {
  const reads = administrator
    ? 'every stream, dead letters'
    : read === 'all'
      ? audit
        ? 'every stream'
        : 'every stream but Audit logs'
      : 'none';
  return [
    name,
    reads,
    edit === 'all' ? 'every stream' : 'none',
    administrator ? 'all' : held.map((one) => `\`${one}\``).join(', '),
    description,
  ];
}

function capabilityRow(capability: Capability, shipped: readonly Role[]): readonly string[] {
  const roles = shipped.filter((role) => role.capabilities.includes(capability)).map(({ name }) => name);
  return [
    `\`${capability}\``,
    capabilities[capability],
    administratorCapabilities.has(capability) ? 'no' : 'yes',
    roles.join(', '),
  ];
}

function byPath(one: RouteFacts, other: RouteFacts): number {
  const [left, right] = [`${one.url} ${one.method}`, `${other.url} ${other.method}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
