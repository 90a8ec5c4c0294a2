/** The API of one process, and what the command line asks it over the control socket. */
import { createApi, type Api } from '../../api/api.js';
import { controlRoutes } from '../../api/control/control-routes.js';
import type { ControlRoutes } from '../../api/control/contract.js';
import { userControlRoutes } from '../../api/control/users.js';
import { controlPorts, type ProgramParts } from './ports.js';

export function composeApi(parts: ProgramParts): Api {
  return createApi({
    settings: parts.config.api,
    createServices: async () => (await import('./create-services.js')).createServices(parts),
  });
}

export function composeControlRoutes(parts: ProgramParts, adminPort: () => number | undefined): ControlRoutes {
  return {
    ...controlRoutes(controlPorts(parts.sluice, adminPort)),
    ...userControlRoutes(async () => (await import('./user-administration.js')).userAdministration(parts)),
  };
}
