/**
 * All routes over a running pipeline, with real users of every kind of right and a message in every place that a right
 * can open.
 */
import { connect } from 'node:net';
import type { Test } from 'tap';
import { accessSources } from '../../../../program/api/access-sources.js';
import type { ApiRoutes } from '../../../../api/http/services.js';
import { apiRoutes } from '../../../../api/http/routes.js';
import { allCapabilities, grantableCapabilities as grantable, unrestrictedScope } from '../../../../schemas/access.js';
import type { Searcher } from '../../../../search/contract.js';
import { administrator, createTestAccess, here, until, type TestAccess } from '../../../access/support.js';
import { startRunning, type Running } from '../routes/running.js';
import { basic } from '../world.js';

/** Every text of a message begins with its mark: in the message, in the names and the values of its fields. */
export const marks = [
  'markalpha',
  'markbravo',
  'markshared',
  'markplain',
  'markaudit',
  'markboth',
  'markletter',
] as const;
export type Mark = (typeof marks)[number];

/** Messages that are in the stores of two index sets are found twice. */
const copies: Readonly<Partial<Record<Mark, number>>> = { markboth: 2 };

export interface Asker {
  readonly name: string;
  /** Marks of the messages that may be seen. */
  readonly sees: readonly Mark[];
  readonly reads: readonly string[];
  readonly edits: readonly string[];
  readonly capabilities: readonly string[];
  readonly administrator: boolean;
}

const shippedCapabilities = ['views:edit', 'system:read'];
const ordinary: readonly Mark[] = ['markalpha', 'markbravo', 'markshared', 'markplain'];
const nobodys = { sees: [], reads: [], edits: [], capabilities: [], administrator: false } as const;
const matrixStreams = ['alpha', 'bravo', 'all-messages', 'audit-logs'];

export const nobody: Asker = { ...nobodys, name: '' };
export const askers: readonly Asker[] = [
  nobody,
  { ...nobodys, name: 'no-role' },
  { ...nobodys, name: 'reader', capabilities: shippedCapabilities },
  { ...nobodys, name: 'Operator', sees: ordinary, reads: matrixStreams.slice(0, 3), capabilities: shippedCapabilities },
  {
    ...nobodys,
    name: 'AuditViewer',
    sees: [...ordinary, 'markaudit', 'markboth'],
    reads: matrixStreams,
    capabilities: [...shippedCapabilities, 'audit:read'],
  },
  { ...nobodys, name: 'reads-alpha', sees: ['markalpha', 'markshared'], reads: ['alpha'] },
  { ...nobodys, name: 'edits-alpha', sees: ['markalpha', 'markshared'], reads: ['alpha'], edits: ['alpha'] },
  ...grantable.map((capability) => ({
    ...nobodys,
    name: `can-${capability.replace(':', '-')}`,
    capabilities: [capability],
  })),
  {
    name: 'Admin',
    sees: [...ordinary, 'markaudit', 'markboth'],
    reads: matrixStreams,
    edits: matrixStreams,
    capabilities: allCapabilities,
    administrator: true,
  },
];
export const askerOf = (name: string): Asker => askers.find((asker) => asker.name === name) ?? nobody;

export function documentsSeenBy({ sees }: Asker): number {
  return sees.reduce((sum, mark) => sum + (copies[mark] ?? 1), 0);
}

/** No match in one of the other: each mark is a word of its own. */
export function marksIn(text: string): readonly Mark[] {
  return marks.filter((mark) => text.includes(mark));
}

const files = {
  'matrix.yaml': `
streams:
  - {id: alpha, title: Alpha, remove_matches_from_default_stream: true, when: {field: lane, one_of: ['1', '3']}}
  - {id: bravo, title: Bravo, remove_matches_from_default_stream: true, when: {field: lane, one_of: ['2', '3']}}
rules:
  - {id: by-lane, description: Lane nine goes to Bravo too., when: {field: lane, equals: '9'}, then: [{set: {field: tried, value: 'yes'}}, {route: {stream: bravo}}]}
outputs:
  - {id: forwarder, type: gelf, host: 127.0.0.1, port: 9, streams: [bravo]}
`,
};

const message = (mark: Mark, more: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    version: '1.1',
    host: `${mark}host`,
    short_message: `${mark} was here`,
    [`_${mark}_field`]: `${mark}value`,
    [`_${mark}_number`]: 7,
    ...more,
  });
/** The one that all who read something see comes last. */
const frames: readonly string[] = [
  '{"short_message": "markletter was here"',
  message('markaudit', { _log_id: 'audit' }),
  message('markboth', { _lane: 1, _log_id: 'audit' }),
  message('markbravo', { _lane: 2 }),
  message('markplain', {}),
  message('markalpha', { _lane: 1 }),
  message('markshared', { _lane: 3 }),
];

export interface MatrixWorld extends Running {
  readonly access: TestAccess;
  /** As one of `askers`, by session; '' without credentials. */
  askAs(
    name: string,
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): ReturnType<Running['ask']>;
  /** The header that says so. */
  authorizationOf(name: string): string;
  /** The indices and ids of all stored messages, dead letters too, by mark. */
  readonly stored: ReadonlyMap<Mark, readonly { readonly index: string; readonly id: string }[]>;
  /** Sends the messages once more. */
  send(): void;
}

export async function startMatrix(
  t: Test,
  { first = [], messages = true }: { readonly first?: readonly ApiRoutes[]; readonly messages?: boolean } = {},
): Promise<MatrixWorld> {
  const made: TestAccess[] = [];
  const running = await startRunning(t, {
    routes: [...first, ...apiRoutes],
    files,
    access: async (sluice) => {
      made.push(
        await createTestAccess(t, {
          state: sluice.state as NonNullable<typeof sluice.state>,
          ...accessSources(sluice),
        }),
      );
      return made[0] as TestAccess;
    },
  });
  const [access] = made;
  if (access === undefined) throw new Error('no access was made');
  const sessions = await makePeople(access);
  const authorizationOf = (name: string): string => basic(sessions.get(name) ?? '', 'session');
  const send = (): void => {
    const sender = connect(running.sluice.receivers[0]?.address().port ?? 0, '127.0.0.1', () =>
      sender.end(frames.map((frame) => `${frame}\0`).join('')),
    );
  };
  if (messages) send();
  return {
    ...running,
    access,
    send,
    stored: messages ? await whenStored(running) : new Map(),
    authorizationOf,
    askAs: (name, method, path, { body, headers = {} } = {}) =>
      running.ask(method, path, {
        as: '',
        headers: { ...(name === '' ? {} : { authorization: authorizationOf(name) }), ...headers },
        ...(body === undefined ? {} : { body }),
      }),
  };
}

async function makePeople(access: TestAccess): Promise<ReadonlyMap<string, string>> {
  const roles: Readonly<Record<string, readonly string[]>> = {
    'reads-alpha': ['streams:read:alpha'],
    'edits-alpha': ['streams:edit:alpha'],
    ...Object.fromEntries(grantable.map((one) => [`can-${one.replace(':', '-')}`, [one]])),
  };
  const shipped: Readonly<Record<string, string>> = {
    Admin: 'admin-secret',
    Operator: 'operator-secret',
    AuditViewer: 'viewer-secret',
  };
  const sessions = new Map<string, string>();
  for (const { name } of askers.slice(1)) {
    const permissions = roles[name];
    if (permissions !== undefined) await access.createRole(administrator, `role of ${name}`, '', permissions);
    const held = permissions === undefined ? (name === 'reader' ? ['Reader'] : []) : [`role of ${name}`];
    if (shipped[name] === undefined) await access.createUser(administrator, name, `${name}-secret`, { roles: held });
    sessions.set(name, (await access.openSession(name, shipped[name] ?? `${name}-secret`, here)).sessionId);
  }
  return sessions;
}

async function whenStored({ sluice }: Running): Promise<MatrixWorld['stored']> {
  const searcher = sluice.searcher as Searcher;
  const stored = new Map<Mark, { readonly index: string; readonly id: string }[]>();
  await until(async () => {
    stored.clear();
    for (const indexSets of [undefined, ['sluice_dead_letters']]) {
      const { messages } = await searcher.messages({ query: '', limit: 100, indexSets }, { scope: unrestrictedScope });
      for (const { _index: index, _id: id, document } of messages)
        for (const mark of marksIn(JSON.stringify(document)))
          stored.set(mark, [...(stored.get(mark) ?? []), { index, id }]);
    }
    return marks.every((mark) => stored.get(mark)?.length === (copies[mark] ?? 1));
  });
  return stored;
}
