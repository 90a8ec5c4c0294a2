/** An API server over parts of a test's choosing, asked without sockets. */
import type { LightMyRequestResponse } from 'fastify';
import { createMemoryState } from '../../../bench/memory-state.js';
import type { Access, AccessAdministration, Credentials } from '../../../access/contract.js';
import { noAudit, type AuditMessage } from '../../../api/http/audit/audit-trail.js';
import { createApiServer, type ApiHttpServer } from '../../../api/http/server.js';
import type { ApiRoutes, ApiServices } from '../../../api/http/services.js';
import { registeredKinds } from '../../../program/kinds.js';
import { loadConfig } from '../../../program/settings.js';
import { defineErrors } from '../../../core/errors.js';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { idlePorts } from './idle-ports.js';
import { compileRules } from '../../../rules/compile/compile.js';
import { readRuleSource } from '../../../rules/loading/source.js';
import { unrestrictedScope, type Capability, type Identity } from '../../../schemas/access.js';
import { createQueryLanguage } from '../../../search/language/language.js';
import type { Searcher } from '../../../search/contract.js';
import { testFolder } from '../../program.js';

const { create: denied } = defineErrors({
  ACCESS_DENIED: { retryable: false, status: 401, summary: 'Not known.' },
  ACCESS_THROTTLED: { retryable: true, status: 429, summary: 'Too often.' },
});

export function identity(username: string, more: Partial<Identity> = {}): Identity {
  return {
    userId: Buffer.from(username.padEnd(12, '0').slice(0, 12)).toString('hex'),
    username,
    roles: [],
    administrator: false,
    scope: { streams: [], except: [], deadLetters: false },
    editableStreams: [],
    capabilities: new Set<Capability>(),
    by: 'password',
    ...more,
  };
}

export const people: Readonly<Record<string, Identity>> = {
  admin: identity('admin', { administrator: true, scope: unrestrictedScope, editableStreams: 'all' }),
  operator: identity('operator', {
    scope: { streams: 'all', except: ['audit-logs'], deadLetters: false },
    capabilities: new Set<Capability>(['views:edit', 'system:read']),
  }),
  alice: identity('alice', {
    scope: { streams: ['all-messages', 'system-logs'], except: [], deadLetters: false },
    editableStreams: ['system-logs'],
    capabilities: new Set<Capability>(['views:edit']),
  }),
  reader: identity('reader'),
};

/**
 * Names of `people`, each with the password `<name>-password`; sessions `<name>-session`, tokens `<name>-token`.
 * `throttled` is asked to wait.
 */
export const fakeAccess: Access = {
  start: async () => undefined,
  stop: async () => undefined,
  async authenticate(credentials: Credentials) {
    const name =
      credentials.kind === 'password'
        ? credentials.username
        : credentials.kind === 'session'
          ? credentials.sessionId.replace(/-session$/, '')
          : credentials.token.replace(/-token$/, '');
    if (name === 'throttled') throw Object.assign(denied('ACCESS_THROTTLED'), { retryAfterMs: 2_500 });
    const known = people[name];
    if (known === undefined || (credentials.kind === 'password' && credentials.password !== `${name}-password`))
      throw denied('ACCESS_DENIED');
    return { ...known, by: credentials.kind };
  },
  openSession: () => Promise.reject(denied('ACCESS_DENIED')),
  closeSession: async () => undefined,
};

export interface World extends ApiHttpServer {
  readonly services: ApiServices;
  readonly recorded: AuditMessage[];
  ask(method: string, path: string, options?: AskOptions): Promise<LightMyRequestResponse>;
}

export interface AskOptions {
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export const basic = (name: string, password = `${name}-password`): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

export async function createWorld(
  t: Teardown,
  parts: {
    readonly routes?: readonly ApiRoutes[];
    readonly searcher?: Partial<Searcher>;
    readonly access?: Access;
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly state?: ApiServices['state'];
  } = {},
): Promise<World> {
  const { config } = loadConfig({
    folder: testFolder(t),
    environment: {},
    overrides: { 'api.port': 0, ...parts.settings },
  });
  const compiled = compileRules(await readRuleSource(config.rules.folder));
  const recorded: AuditMessage[] = [];
  const services: ApiServices = {
    config,
    receiverKinds: registeredKinds.receivers,
    access: (parts.access ?? fakeAccess) as Access & AccessAdministration,
    language: createQueryLanguage(config.search),
    searcher: (parts.searcher ?? {}) as Searcher,
    state: parts.state ?? createMemoryState(),
    ...idlePorts(),
    rules: () => ('ruleSet' in compiled ? compiled.ruleSet : undefined),
    audit: { ...noAudit, record: (message) => void recorded.push(message) },
    registry: new Registry(),
    log: silentLog,
  };
  const server = await createApiServer({
    options: config.api,
    services,
    ...(parts.routes === undefined ? {} : { routes: parts.routes }),
  });
  t.teardown(() => server.stop(1_000));
  return {
    ...server,
    services,
    recorded,
    ask: (method, path, { as, body, headers = {} } = {}) =>
      server.app.inject({
        method: method as 'GET',
        url: path,
        headers: { 'x-requested-by': 'test', ...(as === undefined ? {} : { authorization: basic(as) }), ...headers },
        ...(body === undefined ? {} : { payload: body as object }),
      }),
  };
}
