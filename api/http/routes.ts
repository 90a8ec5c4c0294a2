/** Every resource of the API, one line each. A resource is a file in `routes/` that registers its routes on the server. */
import type { ApiServer } from './contract.js';
import { rootRoutes } from './routes/root.js';
import type { ApiServices } from './services.js';

export type ApiRoutes = (app: ApiServer, services: ApiServices) => void;

export const apiRoutes: readonly ApiRoutes[] = [
  rootRoutes,
];
