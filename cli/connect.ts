/** The running program of these settings. */
import { controlSocketPath, createControlClient, type ControlClient } from '../api/control.js';
import type { Config } from '../schemas/config/config.js';

/** Which of several processes on one data folder. */
export type RoleName = 'all' | 'receiver' | 'processor' | 'output' | 'api';

export function connectControl(config: Config, role: RoleName = 'all'): ControlClient {
  const only = role === 'receiver' || ((role === 'output' || role === 'api') && role);
  return createControlClient(controlSocketPath(config.data_folder, process.env['XDG_RUNTIME_DIR'], only));
}
