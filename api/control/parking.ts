/** What is parked, and giving up an index that is missing. */
import type { Sluice } from '../../program/sluice.js';
import { apiErrors } from '../errors.js';
import type { ControlRoutes } from './routes.js';

export function parkingRoutes(sluice: Sluice): ControlRoutes {
  const processorOf = (): NonNullable<Sluice['processor']> => {
    if (sluice.processor === undefined)
      throw apiErrors.create('API_REQUEST_INVALID', {
        got: 'a question about parking to a process without the role processor',
        allowed: 'a process with it',
      });
    return sluice.processor;
  };
  return {
    'GET /parking': async () => ({ index_sets: await processorOf().parking.list() }),
    'POST /parking/abandon': async (body) => {
      const { index } = (body ?? {}) as { index?: string };
      if (typeof index !== 'string')
        throw apiErrors.create('API_REQUEST_INVALID', { got: 'no index', allowed: 'the name of a concrete index' });
      return processorOf().abandonIndex(index);
    },
  };
}
