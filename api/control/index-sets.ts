/** Rotation and retention on request. */
import type { ControlPorts, ControlRoutes } from './contract.js';

export function indexSetRoutes({
  operations,
  processing,
}: Pick<ControlPorts, 'operations' | 'processing'>): ControlRoutes {
  return {
    'POST /rotate': async (body) => {
      const { index_set: indexSet } = (body ?? {}) as { index_set?: string };
      const outcome = indexSet === undefined ? 'absent' : await operations()?.indexRequests.rotate(indexSet);
      return outcome === 'absent' ? { rotated: false, unknown: true } : { rotated: outcome === 'rotated' };
    },
    'POST /retention': async () => {
      await processing()?.checkRetention();
      return {};
    },
  };
}
