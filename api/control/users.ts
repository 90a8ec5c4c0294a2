/** Users over the control socket. What checks passwords is loaded when it is asked. */
import type { ApiOptions } from '../contract.js';
import { apiErrors } from '../errors.js';
import type { ControlRoutes } from './routes.js';

const names = [
  'GET /users',
  'POST /users/create',
  'POST /users/set-password',
  'POST /users/reset-first-password',
] as const;

export function userControlRoutes(options: ApiOptions): ControlRoutes {
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (body, context) => {
        const { userChanges } = await import('./user-changes.js');
        const handler = userChanges(options)[name];
        if (handler === undefined) throw apiErrors.create('API_REQUEST_INVALID', { got: name });
        return handler(body, context);
      },
    ]),
  ) satisfies ControlRoutes;
}
