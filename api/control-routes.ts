/** What the command line asks of the running program over the control socket: one file a resource. */
import { deadLetterRoutes } from './control/dead-letters.js';
import { indexSetRoutes } from './control/index-sets.js';
import { parkingRoutes } from './control/parking.js';
import type { ControlPorts, ControlRoutes } from './control/contract.js';
import { searchRoutes } from './control/search.js';
import { statusRoutes } from './control/status.js';
import { watchRoutes } from './control/watch.js';

export function controlRoutes(ports: ControlPorts): ControlRoutes {
  return {
    ...searchRoutes(ports),
    ...indexSetRoutes(ports),
    ...parkingRoutes(ports),
    ...deadLetterRoutes(ports),
    ...statusRoutes(ports),
    ...watchRoutes(ports),
  };
}
