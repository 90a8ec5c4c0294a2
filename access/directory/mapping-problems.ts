/**
 * What mappings name and never gives anything: roles and streams that are not there, and the stream that no mapping
 * opens.
 */
import type { Log } from '../../core/log.js';
import { auditStream } from '../../schemas/access.js';
import type { LdapOptions } from '../../schemas/config/ldap.js';
import type { Role } from '../contract.js';
import { accessErrors } from '../errors.js';
import type { StreamName } from '../rights/rights.js';
import { roleIsThere, streamsNamed, type Mappings } from './mapping.js';
import { accessEvents } from '../events.js';

interface MappingProblem {
  readonly place: string;
  readonly got: string;
  readonly allowed: string;
}

/** A mistake in a name is seen among the first of them. */
const mostNames = 30;
const mostLength = 100;

function mappingProblems(
  {
    role_mapping: roleMapping = [],
    default_roles: defaults = [],
    stream_mapping: streamMapping = [],
  }: Partial<Mappings>,
  roles: readonly Role[],
  streams: readonly StreamName[],
): readonly MappingProblem[] {
  const open = streams.filter(({ id }) => id !== auditStream);
  const ofRole = (place: string, name: string): readonly MappingProblem[] =>
    roleIsThere(roles, name)
      ? []
      : [
          {
            place,
            got: quoted(name),
            allowed: listed(
              'roles',
              roles.map((role) => role.name),
            ),
          },
        ];
  const ofStream = (place: string, name: string): readonly MappingProblem[] => {
    const named = streamsNamed(streams, name);
    if (named.some((id) => id !== auditStream)) return [];
    return [
      {
        place,
        got: `${quoted(name)}${named.length > 0 ? ', which no mapping opens' : ''}`,
        allowed: listed(
          'streams',
          open.map(({ title }) => title),
        ),
      },
    ];
  };
  return [
    ...roleMapping.flatMap((entry, at) =>
      entry.roles.flatMap((name, which) => ofRole(`role_mapping[${at}].roles[${which}]`, name)),
    ),
    ...defaults.flatMap((name, at) => ofRole(`default_roles[${at}]`, name)),
    ...streamMapping.flatMap((entry, at) =>
      entry.streams.flatMap((name, which) => ofStream(`stream_mapping[${at}].streams[${which}]`, name)),
    ),
  ];
}

export function assertMappings(
  mappings: Partial<Mappings>,
  roles: readonly Role[],
  streams: readonly StreamName[],
): void {
  const [first] = mappingProblems(mappings, roles, streams);
  if (first !== undefined)
    throw accessErrors.create('ACCESS_DIRECTORY_SETTINGS_INVALID', { ...first, place: `access.ldap.${first.place}` });
}

export type MappingWarnings = (settings: LdapOptions, roles: readonly Role[], streams: readonly StreamName[]) => void;

/**
 * Warns of each once, and again when it was put right meanwhile: the settings file is read before roles and streams of
 * the API are known.
 */
export function createMappingWarnings(log: Log): MappingWarnings {
  let known = new Set<string>();
  return (settings, roles, streams) => {
    // Some ship: none are known yet.
    if (streams.length === 0) return;
    const problems = mappingProblems(settings, roles, streams).map(({ place, got, allowed }) => ({
      sign: `${place} ${got}`,
      setting: `access.ldap.${place}`,
      got,
      allowed,
    }));
    for (const { sign, ...problem } of problems)
      if (!known.has(sign)) accessEvents.directoryMappingEmpty(log, problem, problem.setting, problem.got);
    known = new Set(problems.map(({ sign }) => sign));
  };
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, mostLength));
}

function listed(what: string, names: readonly string[]): string {
  const more = names.length > mostNames ? `, and ${names.length - mostNames} more` : '';
  return names.length === 0
    ? `${what} that there are; now there are none`
    : `${names.slice(0, mostNames).join(', ')}${more}`;
}
