/** What the command line asks of the running program over the control socket: one file a resource. */
import type { Sluice } from '../program/sluice.js';
import { deadLetterRoutes } from './control/dead-letters.js';
import { indexSetRoutes } from './control/index-sets.js';
import { parkingRoutes } from './control/parking.js';
import type { ControlRoutes } from './control/routes.js';
import { searchRoutes } from './control/search.js';
import { statusRoutes } from './control/status.js';
import { watchRoutes } from './control/watch.js';

export function controlRoutes(sluice: Sluice, adminPort: () => number | undefined): ControlRoutes {
  return {
    ...searchRoutes(sluice),
    ...indexSetRoutes(sluice),
    ...parkingRoutes(sluice),
    ...deadLetterRoutes(sluice),
    ...statusRoutes(sluice, adminPort),
    ...watchRoutes(sluice),
  };
}
