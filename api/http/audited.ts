/**
 * What an audit record names of a request. Refused requests are recorded too, some before anything was checked: nothing
 * here counts on a schema.
 */
import type { FastifyRequest } from 'fastify';

export interface Audited {
  /** Default: the path parameters; of what is to be created, its name. */
  readonly object?: string | undefined;
  /** Members that are undefined are left out. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The search whose results are read has its record already: a success leaves no further one. */
  readonly recordedBefore?: true;
}

type Members = Readonly<Record<string, unknown>>;

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Those of them that are there. */
export function someOf(value: unknown, names: readonly string[]): Members {
  const members = membersOf(value);
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(members, name) && members[name] !== undefined)
      .map((name) => [name, members[name]]),
  );
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** `query` asks for everything where it is missing. */
export function auditedQuery(query: unknown, details: Members): Audited {
  return { object: textOf(query) ?? '*', details };
}

export function defaultObject(request: FastifyRequest): string {
  return [...parametersOf(request), ...(request.method === 'POST' ? namesOf(request.body) : [])].join(' ');
}

/** `streamId=... ruleId=...`; a session id is a key, and so may be what stands for a token. */
function parametersOf(request: FastifyRequest): readonly string[] {
  return Object.entries(membersOf(request.params))
    .filter(([name]) => !/session|token/i.test(name))
    .map(([name, value]) => `${name}=${String(value)}`);
}

const naming = ['username', 'name', 'title', 'index_prefix', 'id', 'rev'];

/** Nothing else of a body: there may be secrets in it. */
function namesOf(body: unknown): readonly string[] {
  const { entity } = membersOf(body);
  return Object.entries({ ...someOf(entity, naming), ...someOf(body, naming) })
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `${name}=${String(value)}`);
}
