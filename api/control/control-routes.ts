/** What the command line asks of the running program over the control socket: one file a resource. */
import { deadLetterRoutes } from './dead-letters.js';
import { indexSetRoutes } from './index-sets.js';
import { parkingRoutes } from './parking.js';
import type { ControlPorts, ControlRoutes } from './contract.js';
import { searchRoutes } from './search.js';
import { statusRoutes } from './status.js';
import { watchRoutes } from './watch.js';

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
