/** Users, for the control socket: access is built for one request. What checks passwords is loaded only then. */
import { createAccess } from '../../access/access.js';
import { defaultUsers } from '../../access/rights/default-roles.js';
import { randomPassword } from '../../access/authentication/passwords.js';
import type { UserAdministrationPort } from '../../api/control/contract.js';
import { apiErrors } from '../../api/errors.js';
import { createAuditTrail } from '../../api/http/audit/audit-trail.js';
import { accessSources } from './access-sources.js';
import type { ProgramParts } from './ports.js';

const auditStopMs = 2_000;

export function userAdministration({ sluice, config, registry, log }: ProgramParts): UserAdministrationPort {
  return {
    async withAccess(run) {
      if (sluice.state === undefined)
        throw apiErrors.create('API_REQUEST_INVALID', {
          got: 'a question about users to a process without the store',
          allowed: 'role all, processor or api',
        });
      const access = createAccess({
        settings: config.access,
        state: sluice.state,
        ...accessSources(sluice),
        registry,
        log,
      });
      await access.start();
      try {
        return await run(access);
      } finally {
        await access.stop();
      }
    },
    async record(message) {
      const { enabled, container, max_waiting: maxWaiting } = config.api.audit;
      if (!enabled || sluice.sink === undefined) return false;
      const trail = createAuditTrail({ sink: sluice.sink, container, maxWaiting, registry, log });
      trail.record(message);
      await trail.stop(auditStopMs);
      return true;
    },
    shippedUsers: defaultUsers,
    randomPassword,
    log,
  };
}
