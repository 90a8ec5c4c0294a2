/** Users, for the operator of the machine who lost a password: who opens the control socket may do all of it. Each change is an audit record. */
import { createAccess } from '../../access/access.js';
import type { AccessAdministration } from '../../access/contract.js';
import { defaultUsers } from '../../access/rights/default-roles.js';
import { keyOfName } from '../../core/names.js';
import { randomPassword } from '../../access/authentication/passwords.js';
import { allCapabilities, unrestrictedScope, type Identity } from '../../schemas/access.js';
import { accessSources } from '../access-sources.js';
import type { ApiOptions } from '../contract.js';
import { apiErrors } from '../errors.js';
import { createAuditTrail } from '../http/audit-trail.js';
import type { ControlRoutes } from './routes.js';

const auditStopMs = 2_000;
const actor = 'operator at the control socket';
const operator: Identity = {
  userId: '0'.repeat(24),
  username: actor,
  roles: ['Administrator'],
  administrator: true,
  scope: unrestrictedScope,
  editableStreams: 'all',
  capabilities: new Set(allCapabilities),
  by: 'password',
};

interface UserBody {
  readonly username?: unknown;
  readonly password?: unknown;
  readonly roles?: unknown;
}

export function userChanges(options: ApiOptions): ControlRoutes {
  const change =
    (name: string, run: (access: AccessAdministration, username: string, body: UserBody) => Promise<unknown>) =>
    async (body: unknown): Promise<unknown> => {
      const { username } = (body ?? {}) as UserBody;
      if (typeof username !== 'string')
        throw apiErrors.create('API_REQUEST_INVALID', { got: 'no username', allowed: 'the name of a user' });
      return withAccess(options, async (access) => {
        const answer = await run(access, username, body ?? {});
        await recordChange(options, name, username);
        return answer;
      });
    };
  return {
    'GET /users': () =>
      withAccess(options, async (access) => ({
        users: access
          .users(operator)
          .map(({ username, roles, enabled, external, email }) => ({ username, roles, enabled, external, email })),
      })),
    'POST /users/create': change('user:create', async (access, username, { password, roles }) => {
      const chosen = typeof password === 'string' ? password : randomPassword();
      await access.createUser(operator, username, chosen, { roles: Array.isArray(roles) ? roles.map(String) : [] });
      return typeof password === 'string' ? {} : { password: chosen };
    }),
    'POST /users/set-password': change('user:password', async (access, username, { password }) => {
      const chosen = typeof password === 'string' ? password : randomPassword();
      await access.setPassword(operator, username, chosen, undefined, { address: 'local' });
      return typeof password === 'string' ? {} : { password: chosen };
    }),
    'POST /users/reset-first-password': change('user:reset', async (access, username) => ({
      password: await resetFirst(access, username),
    })),
  };
}

/** As after the first start: one that ships is made again when it is gone, is enabled, and has its roles and a new password. */
async function resetFirst(access: AccessAdministration, username: string): Promise<string> {
  const shipped = defaultUsers.find((user) => keyOfName(user.username) === keyOfName(username));
  if (shipped === undefined)
    throw apiErrors.create('API_REQUEST_INVALID', {
      got: JSON.stringify(username),
      allowed: `${defaultUsers.map((user) => user.username).join(', ')}; set-password for others`,
    });
  const password = randomPassword();
  const exists = access.users(operator).some((user) => keyOfName(user.username) === keyOfName(username));
  if (!exists) await access.createUser(operator, shipped.username, password, { roles: shipped.roles });
  else {
    await access.setPassword(operator, username, password, undefined, { address: 'local' });
    await access.changeUser(operator, username, { roles: shipped.roles });
    await access.setEnabled(operator, username, true);
  }
  return password;
}

async function withAccess<Result>(
  { sluice, config, registry, log }: ApiOptions,
  run: (access: AccessAdministration) => Promise<Result>,
): Promise<Result> {
  if (sluice.state === undefined)
    throw apiErrors.create('API_REQUEST_INVALID', {
      got: 'a question about users to a process without the store',
      allowed: 'role all, processor or api',
    });
  const access = createAccess({
    settings: config.access,
    state: sluice.state,
    ...accessSources(sluice),
    registry,
    log,
  });
  await access.start();
  try {
    return await run(access);
  } finally {
    await access.stop();
  }
}

async function recordChange(
  { sluice, config, registry, log }: ApiOptions,
  action: string,
  username: string,
): Promise<void> {
  const { enabled, container, max_waiting: maxWaiting } = config.api.audit;
  const object = `username=${JSON.stringify(username)}`;
  if (!enabled || sluice.sink === undefined)
    return log.info({ action, object, actor }, 'a user was changed from the command line');
  const trail = createAuditTrail({ sink: sluice.sink, container, maxWaiting, registry, log });
  const fields = {
    log_id: 'audit',
    audit_actor: actor,
    audit_address: 'local',
    audit_action: action,
    audit_object: object,
    audit_outcome: 'success',
  };
  trail.record({
    text: `audit: ${actor} ${action} ${object} success`,
    at: Date.now(),
    level: 6,
    address: 'local',
    fields,
  });
  await trail.stop(auditStopMs);
}
