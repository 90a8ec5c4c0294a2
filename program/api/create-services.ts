/**
 * What the routes of the API work with: its ports, and access and audit, which it has for itself. Loaded only when the
 * API starts.
 */
import { createAccess } from '../../access/access.js';
import type { StartedServices } from '../../api/api.js';
import { apiErrors } from '../../api/errors.js';
import { createAuditTrail, noAudit } from '../../api/http/audit/audit-trail.js';
import { accessSources } from './access-sources.js';
import { httpPorts, type ProgramParts } from './ports.js';

/** Records that still wait at the stop get this long. */
const auditStopMs = 2_000;

export async function createServices({ sluice, config, registry, log }: ProgramParts): Promise<StartedServices> {
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
    services: { ...httpPorts(sluice), config, access, searcher, state, audit, registry, log },
    async stop() {
      await access.stop();
      await audit.stop(auditStopMs);
    },
  };
}
