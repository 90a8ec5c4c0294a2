/** Rotation and retention on request. */
import type { Sluice } from '../../program/sluice.js';
import type { ControlRoutes } from './routes.js';

export function indexSetRoutes(sluice: Sluice): ControlRoutes {
  return {
    'POST /rotate': async (body) => {
      const { index_set: indexSet } = (body ?? {}) as { index_set?: string };
      return {
        rotated: indexSet !== undefined && (await sluice.operations?.indexRequests.rotate(indexSet)) === 'rotated',
      };
    },
    'POST /retention': async () => {
      await sluice.processor?.indexSets.checkRetention();
      return {};
    },
  };
}
