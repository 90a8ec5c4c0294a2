/** The running program of these settings. */
import { existsSync } from 'node:fs';
import { createControlClient, type ControlClient } from '../api/control/client.js';
import { controlSocketPath } from '../api/control/socket-path.js';
import type { Config } from '../schemas/config/config.js';

/** Which of several processes on one data folder. */
export type RoleName = 'all' | 'receiver' | 'processor' | 'output' | 'api';

export function connectControl(config: Config, role: RoleName = 'all'): ControlClient {
  return createControlClient(socketOf(config, role));
}

/** One that works on the store: a processor's, or where there is none the one that serves the API. */
export function connectStore(config: Config): ControlClient {
  const [processor, api] = [socketOf(config, 'all'), socketOf(config, 'api')];
  return createControlClient(!existsSync(processor) && existsSync(api) ? api : processor);
}

function socketOf(config: Config, role: RoleName): string {
  const only = role === 'receiver' || ((role === 'output' || role === 'api') && role);
  return controlSocketPath(config.data_folder, process.env['XDG_RUNTIME_DIR'], only);
}
