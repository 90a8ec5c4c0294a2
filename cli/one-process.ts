/** The program as one process, as it is by default: everything runs here. */
import { apiStopShare, createApi } from '../api/api.js';
import { controlRoutes } from '../api/control-routes.js';
import { userControlRoutes } from '../api/control/users.js';
import { Sluice, type SluiceOptions } from '../program/sluice.js';
import type { RunningProgram } from '../program/workers/contract.js';

export function createOneProcess(options: SluiceOptions, adminPort: () => number | undefined): RunningProgram {
  const sluice = new Sluice(options);
  const api =
    options.roles.api === true
      ? createApi({ sluice, config: options.config, log: options.log, registry: options.registry })
      : undefined;
  return {
    async start() {
      await sluice.start();
      await api?.start();
      await sluice.startRuntimeReceivers();
      const receivers = sluice.receivers.map((receiver) => ({ name: receiver.name, ...receiver.address() }));
      return {
        receivers,
        inflater: sluice.inflaterName,
        stores: sluice.store !== undefined,
        maxTotalBytes: sluice.maxTotalBytes,
        api: api?.address(),
        firstPasswords: api?.firstPasswords(),
      };
    },
    async stop(deadlineMs) {
      await api?.stop(deadlineMs * apiStopShare);
      await sluice.stop(deadlineMs * (1 - apiStopShare));
    },
    kill: () => undefined,
    ready: () => sluice.ready(),
    async metricsText() {
      await sluice.processor?.collect();
      await sluice.outputs?.collect();
      return options.registry.metrics();
    },
    controlRoutes: {
      ...controlRoutes(sluice, adminPort),
      ...userControlRoutes({ sluice, config: options.config, log: options.log, registry: options.registry }),
    },
  };
}
