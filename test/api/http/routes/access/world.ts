/** The routes of access over real users in a real state. */
import type { Test } from 'tap';
import { authenticationRoutes } from '../../../../../api/http/routes/access/authentication.js';
import { roleRoutes } from '../../../../../api/http/routes/access/roles.js';
import { sessionRoutes } from '../../../../../api/http/routes/access/sessions.js';
import { tokenRoutes } from '../../../../../api/http/routes/access/tokens.js';
import { userRoutes } from '../../../../../api/http/routes/access/users.js';
import { createTestAccess, type TestAccess, type TestAccessOptions } from '../../../../access/support.js';
import { basic, createWorld, type AskOptions, type World } from '../../world.js';

export const passwords: Readonly<Record<string, string>> = {
  Admin: 'admin-secret',
  Operator: 'operator-secret',
  AuditViewer: 'viewer-secret',
};

interface AccessWorld extends Pick<World, 'recorded' | 'table'> {
  readonly access: TestAccess;
  /** `as` names a user that ships. */
  ask(method: string, path: string, options?: AskOptions): ReturnType<World['ask']>;
}

export async function createAccessWorld(test: Test, options: TestAccessOptions = {}): Promise<AccessWorld> {
  const access = await createTestAccess(test, options);
  const world = await createWorld(test, {
    access,
    routes: [sessionRoutes, userRoutes, roleRoutes, tokenRoutes, authenticationRoutes],
  });
  return {
    access,
    recorded: world.recorded,
    table: world.table,
    ask: (method, path, { as, headers = {}, ...rest } = {}) =>
      world.ask(method, path, {
        ...rest,
        headers: { ...(as === undefined ? {} : { authorization: basic(as, passwords[as]) }), ...headers },
      }),
  };
}
