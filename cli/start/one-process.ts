/** The program as one process, as it is by default: everything runs here. */
import { apiStopShare } from '../../api/api.js';
import { composeApi, composeControlRoutes } from '../../program/api/api.js';
import { Sluice, type SluiceOptions } from '../../program/sluice.js';
import type { RunningProgram } from '../../program/workers/contract.js';

export function createOneProcess(options: SluiceOptions, adminPort: () => number | undefined): RunningProgram {
  const sluice = new Sluice(options);
  const parts = { sluice, config: options.config, log: options.log, registry: options.registry };
  const api = options.roles.api === true ? composeApi(parts) : undefined;
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
    controlRoutes: composeControlRoutes(parts, adminPort),
  };
}
