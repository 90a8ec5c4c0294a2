/**
 * Users, for the operator of the machine who lost a password: who opens the control socket may do all of it. Each
 * change is an audit record.
 */
import type { AccessAdministration, User } from '../../access/contract.js';
import { keyOfName } from '../../core/names.js';
import { allCapabilities, unrestrictedScope, type Identity } from '../../schemas/access.js';
import { apiErrors } from '../errors.js';
import type { ControlRoutes, UserAdministrationPort } from './contract.js';
import { apiEvents } from '../events.js';

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

interface UserChange extends UserAdministrationPort {
  readonly access: AccessAdministration;
  readonly username: string;
  readonly body: UserBody;
}

/** `load`: what checks passwords is loaded only when it is asked for. */
export function userControlRoutes(load: () => Promise<UserAdministrationPort>): ControlRoutes {
  const change =
    (action: string, run: (change: UserChange) => Promise<unknown>) =>
    async (given: unknown): Promise<unknown> => {
      const body: UserBody = given ?? {};
      const { username } = body;
      if (typeof username !== 'string')
        throw apiErrors.create('API_REQUEST_INVALID', { got: 'no username', allowed: 'the name of a user' });
      const users = await load();
      return users.withAccess(async (access) => {
        const answer = await run({ ...users, access, username, body });
        await recordChange(users, action, username);
        return answer;
      });
    };
  return {
    'GET /users': async () => {
      const { withAccess } = await load();
      return withAccess(async (access) => ({ users: access.users(operator).map(shown) }));
    },
    'POST /users/create': change('user:create', async ({ access, username, body, randomPassword }) => {
      const { password, roles } = body;
      const chosen = typeof password === 'string' ? password : randomPassword();
      await access.createUser(operator, username, chosen, { roles: Array.isArray(roles) ? roles.map(String) : [] });
      return typeof password === 'string' ? {} : { password: chosen };
    }),
    'POST /users/set-password': change('user:password', async ({ access, username, body, randomPassword }) => {
      const { password } = body;
      const chosen = typeof password === 'string' ? password : randomPassword();
      await access.setPassword(operator, username, { password: chosen, old: undefined, address: 'local' });
      return typeof password === 'string' ? {} : { password: chosen };
    }),
    'POST /users/reset-first-password': change('user:reset', async (asked) => ({
      password: await resetFirst(asked),
    })),
  };
}

function shown({ username, roles, enabled, external, email }: User): object {
  return { username, roles, enabled, external, email };
}

/**
 * As after the first start: one that ships is made again when it is gone, is enabled, and has its roles and a new
 * password.
 */
async function resetFirst({ access, username, shippedUsers, randomPassword }: UserChange): Promise<string> {
  const shipped = shippedUsers.find((user) => keyOfName(user.username) === keyOfName(username));
  if (shipped === undefined)
    throw apiErrors.create('API_REQUEST_INVALID', {
      got: JSON.stringify(username),
      allowed: `${shippedUsers.map((user) => user.username).join(', ')}; set-password for others`,
    });
  const password = randomPassword();
  const exists = access.users(operator).some((user) => keyOfName(user.username) === keyOfName(username));
  if (!exists) await access.createUser(operator, shipped.username, password, { roles: shipped.roles });
  else {
    await access.setPassword(operator, username, { password, old: undefined, address: 'local' });
    await access.changeUser(operator, username, { roles: shipped.roles });
    await access.setEnabled(operator, username, true);
  }
  return password;
}

async function recordChange({ record, log }: UserAdministrationPort, action: string, username: string): Promise<void> {
  const object = `username=${JSON.stringify(username)}`;
  const recorded = await record({
    text: `audit: ${actor} ${action} ${object} success`,
    at: Date.now(),
    level: 6,
    address: 'local',
    fields: {
      log_id: 'audit',
      audit_actor: actor,
      audit_address: 'local',
      audit_action: action,
      audit_object: object,
      audit_outcome: 'success',
    },
  });
  if (!recorded) apiEvents.userChanged(log, { action, object, actor });
}
