/** Rotation and retention on request. */
import type { Sluice } from '../../program/sluice.js';
import type { ControlRoutes } from './routes.js';

export function indexSetRoutes(sluice: Sluice): ControlRoutes {
  return {
    'POST /rotate': async (body) => {
      const { index_set: indexSet } = (body ?? {}) as { index_set?: string };
      const outcome = indexSet === undefined ? 'absent' : await sluice.operations?.indexRequests.rotate(indexSet);
      return outcome === 'absent' ? { rotated: false, unknown: true } : { rotated: outcome === 'rotated' };
    },
    'POST /retention': async () => {
      await sluice.processor?.indexSets.checkRetention();
      return {};
    },
  };
}
