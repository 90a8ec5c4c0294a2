/** The running program of these settings. */
import { controlSocketPath, createControlClient, type ControlClient } from '../api/control.js';
import type { Config } from '../schemas/config/config.js';

export function connectControl(config: Config, onlyReceives = false): ControlClient {
  return createControlClient(controlSocketPath(config.data_folder, process.env['XDG_RUNTIME_DIR'], onlyReceives));
}
