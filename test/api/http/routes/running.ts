/** The API over a pipeline that runs in this process, with its embedded engines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { noAudit, type AuditMessage } from '../../../../api/http/audit/audit-trail.js';
import { createApiServer } from '../../../../api/http/server.js';
import type { ApiRoutes, ApiServices } from '../../../../api/http/services.js';
import { registeredKinds, type Kinds } from '../../../../program/kinds.js';
import { silentLog, type Log } from '../../../../core/log.js';
import { Registry } from '../../../../core/metrics.js';
import { httpPorts } from '../../../../program/api/ports.js';
import { Sluice } from '../../../../program/sluice.js';
import type { Searcher } from '../../../../search/contract.js';
import { testFolder } from '../../../program.js';
import { basic, fakeAccess, type AskOptions, type World } from '../world.js';

export interface Running extends World {
  readonly sluice: Sluice;
  readonly rulesFolder: string;
  /** The status of an answer and its body. */
  told(
    method: string,
    path: string,
    options?: AskOptions,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
}

interface RunningParts {
  readonly routes: readonly ApiRoutes[];
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Default: what the registries list. */
  readonly kinds?: Kinds;
  readonly searcher?: Partial<Searcher>;
  /** Default: the people of `world.ts`. */
  readonly access?: (sluice: Sluice) => Promise<ApiServices['access']>;
  /** Header of who asks; default: the password of the people of `world.ts`. */
  readonly authorization?: (as: string) => string;
  readonly log?: Log;
}

export async function startRunning(t: Test, parts: RunningParts): Promise<Running> {
  const folder = testFolder(t);
  const rulesFolder = join(folder, 'rules');
  mkdirSync(rulesFolder);
  for (const [name, text] of Object.entries(parts.files ?? {})) writeFileSync(join(rulesFolder, name), text);
  const kinds = parts.kinds ?? registeredKinds;
  const { config } = kinds.settings.load({
    folder,
    environment: {},
    overrides: {
      'rules.folder': rulesFolder,
      'store.embedded.memory_bytes': 256 * 2 ** 20,
      'store.embedded.threads': 1,
      receivers: [{ type: 'gelf_tcp', name: 'gelf-tcp', host: '127.0.0.1', port: 0 }],
      ...parts.settings,
    },
  });
  const registry = new Registry();
  const sluice = new Sluice({
    config,
    kinds,
    roles: { receiver: true, processor: true, output: true, api: true },
    registry,
    log: silentLog,
    onFatal: (error) => {
      throw error;
    },
  });
  t.teardown(() => sluice.stop(10_000));
  await sluice.start();
  await sluice.startRuntimeReceivers();
  const recorded: AuditMessage[] = [];
  const services: ApiServices = {
    config,
    access: ((await parts.access?.(sluice)) ?? fakeAccess) as ApiServices['access'],
    searcher: { ...(sluice.searcher as Searcher), ...parts.searcher },
    state: sluice.state as NonNullable<typeof sluice.state>,
    ...httpPorts(sluice),
    audit: { ...noAudit, record: (message) => void recorded.push(message) },
    registry,
    log: parts.log ?? silentLog,
  };
  const server = await createApiServer({ options: config.api, services, routes: parts.routes });
  t.teardown(() => server.stop(1_000));
  const authorization = parts.authorization ?? basic;
  const ask: World['ask'] = (method, path, { as = 'admin', body, headers = {} } = {}) =>
    server.app.inject({
      method: method as 'GET',
      url: path,
      headers: { 'x-requested-by': 'test', ...(as === '' ? {} : { authorization: authorization(as) }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
  return {
    ...server,
    services,
    recorded,
    ask,
    sluice,
    rulesFolder,
    async told(method, path, options) {
      const answer = await ask(method, path, options);
      return {
        status: answer.statusCode,
        body: answer.body === '' ? {} : (JSON.parse(answer.body) as Record<string, unknown>),
      };
    },
  };
}

/** Each request as [name of who asks, method, path, status, body], one after the other. */
export type Row = readonly [as: string, method: string, path: string, status: number, body?: unknown];

export async function expectStatuses(t: Test, world: Running, rows: readonly Row[]): Promise<void> {
  for (const [as, method, path, status, body] of rows) {
    const answer = await world.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
    t.equal(
      answer.statusCode,
      status,
      `${as === '' ? 'nobody' : as}: ${method} ${path} ${answer.statusCode === status ? '' : answer.body}`,
    );
    if (answer.statusCode >= 400) t.match(JSON.parse(answer.body), { type: String, message: String });
  }
}
