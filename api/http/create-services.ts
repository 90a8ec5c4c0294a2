/** Joins search, access and audit with the running pipeline. */
import { createAccess } from '../../access/access.js';
import { accessSources } from '../access-sources.js';
import type { ApiOptions } from '../contract.js';
import { apiErrors } from '../errors.js';
import { createAuditTrail, noAudit } from './audit-trail.js';
import type { ApiServices } from './services.js';

export interface StartedServices {
  readonly services: ApiServices;
  stop(): Promise<void>;
}

/** Records that still wait at the stop get this long. */
const auditStopMs = 2_000;

export async function createServices({ sluice, config, registry, log }: ApiOptions): Promise<StartedServices> {
  const { state, sink, searcher } = sluice;
  if (state === undefined || sink === undefined || searcher === undefined)
    throw apiErrors.create('API_REQUEST_INVALID', {
      got: 'a process without the store',
      allowed: 'role all, processor or api',
    });
  const { enabled, container, max_waiting: maxWaiting } = config.api.audit;
  const audit = enabled ? createAuditTrail({ sink, container, maxWaiting, registry, log }) : noAudit;
  const access = createAccess({ settings: config.access, state, ...accessSources(sluice), registry, log });
  await access.start();
  return {
    services: {
      config,
      receiverKinds: sluice.receiverKinds.kinds,
      access,
      searcher,
      language: sluice.language,
      state,
      sluice,
      rules: () => sluice.rules(),
      leftOutStreams: () => sluice.world.leftOut('streams'),
      audit,
      registry,
      log,
    },
    async stop() {
      await access.stop();
      await audit.stop(auditStopMs);
    },
  };
}
