/** Every resource of the API, one line each. A resource is a file in `routes/` that registers its routes on the server. */
import type { ApiServer } from './contract.js';
import { authenticationRoutes } from './routes/authentication.js';
import { roleRoutes } from './routes/roles.js';
import { rootRoutes } from './routes/root.js';
import { sessionRoutes } from './routes/sessions.js';
import { tokenRoutes } from './routes/tokens.js';
import { userRoutes } from './routes/users.js';
import { searchValidateRoutes } from './routes/search-validate.js';
import { viewsSearchRoutes } from './routes/views-search.js';
import { viewsRoutes } from './routes/views.js';
import type { ApiServices } from './services.js';

export type ApiRoutes = (app: ApiServer, services: ApiServices) => void;

export const apiRoutes: readonly ApiRoutes[] = [
  rootRoutes,
  sessionRoutes,
  userRoutes,
  tokenRoutes,
  roleRoutes,
  authenticationRoutes,
  viewsSearchRoutes,
  viewsRoutes,
  searchValidateRoutes,
];
