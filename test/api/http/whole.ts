/** The whole API: every route over a running pipeline with stored messages and real users, each known by a token. */
import { connect } from 'node:net';
import { pino } from 'pino';
import type { Test } from 'tap';
import { apiRoutes } from '../../../api/http/routes.js';
import { administrator, createTestAccess } from '../../access/support.js';
import { until } from '../../definitions/rig.js';
import { startRunning, type Running } from './routes/running.js';
import { basic } from './world.js';

export interface Whole extends Running {
  /** What the program logged as a fault of its own, one JSON line each. */
  readonly faults: string[];
  /** Header of who asks, by the name of a role in small letters. */
  authorization(as: string): string;
}

const files = {
  'own.yaml': [
    'index_sets: [{id: filed}]',
    'streams: [{id: billing, title: Billing}]',
    'rules: [{id: own-rule, when: {always: true}, then: [{set: {field: seen, value: yes}}]}]',
    'outputs: [{id: own-output, type: gelf, host: 127.0.0.1, port: 9, enabled: false}]',
  ].join('\n'),
};
/** Who asks in rows: a role of their own each, since users that ship are changed by requests of the tests. */
const roles = { admin: 'Administrator', operator: 'Operator', auditviewer: 'AuditViewer', reader: 'Reader' } as const;
const password = 'Some-password-1';

export async function startWhole(
  t: Test,
  {
    settings = {},
    messages = 20,
  }: { readonly settings?: Readonly<Record<string, unknown>>; readonly messages?: number } = {},
): Promise<Whole> {
  const faults: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
  const tokens = new Map<string, string>();
  const authorization = (as: string): string => basic(tokens.get(as) ?? as, 'token');
  const world = await startRunning(t, {
    routes: apiRoutes,
    files,
    log,
    authorization,
    settings: { 'api.port': 0, ...settings },
    async access(sluice) {
      const access = await createTestAccess(t, {
        state: sluice.state as NonNullable<typeof sluice.state>,
        streams: () => sluice.rules()?.streams ?? [],
        settings: { throttle: false },
      });
      for (const [name, role] of Object.entries(roles)) {
        const user = await access.createUser(administrator, `the-${name}`, password, { roles: [role] });
        tokens.set(name, (await access.createToken(administrator, user.id, 'test', undefined)).secret);
      }
      return access;
    },
  });
  await world.start();
  await store(world, messages);
  return { ...world, faults, authorization };
}

/** Some that can be found, one that cannot be decoded. */
async function store({ sluice, told }: Running, messages: number): Promise<void> {
  const { port } = (sluice.receivers[0] as NonNullable<(typeof sluice.receivers)[0]>).address();
  const lines = Array.from({ length: messages }, (_, at) =>
    JSON.stringify({
      version: '1.1',
      host: `host-${at % 3}`,
      short_message: `message ${at}`,
      level: at % 8,
      _container: 'pay',
      _size: at,
    }),
  );
  const sender = connect(port, '127.0.0.1', () => sender.end([...lines, 'not json', ''].join('\0')));
  const total = async (path: string, member: string): Promise<number> =>
    (await told('GET', path)).body[member] as number;
  await until(
    async () =>
      (await total('/api/dead-letters', 'total')) > 0 &&
      (await total('/api/search/universal/relative?range=3600&query=container:pay', 'total_results')) >= messages,
  );
}
