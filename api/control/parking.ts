/** What is parked, and giving up an index that is missing. */
import { apiErrors } from '../errors.js';
import type { ControlPorts, ControlProcessing, ControlRoutes } from './contract.js';

export function parkingRoutes({ processing }: Pick<ControlPorts, 'processing'>): ControlRoutes {
  const processingHere = (): ControlProcessing => {
    const here = processing();
    if (here === undefined)
      throw apiErrors.create('API_REQUEST_INVALID', {
        got: 'a question about parking to a process without the role processor',
        allowed: 'a process with it',
      });
    return here;
  };
  return {
    'GET /parking': async () => ({ index_sets: await processingHere().parked() }),
    'POST /parking/abandon': async (body) => {
      const { index } = (body ?? {}) as { index?: string };
      if (typeof index !== 'string')
        throw apiErrors.create('API_REQUEST_INVALID', { got: 'no index', allowed: 'the name of a concrete index' });
      return processingHere().abandonIndex(index);
    },
  };
}
