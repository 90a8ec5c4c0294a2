/** Index sets and dead letters, as every process with the store can work on them. */
import type { Operations } from '../../contract.js';
import { failure } from '../failure.js';
import type { ApiServices } from '../services.js';

export function operationsOf({ operations }: Pick<ApiServices, 'operations'>): Operations {
  const found = operations();
  if (found === undefined)
    throw failure('API_STARTING', 'This process is being started; try again.', { headers: { 'retry-after': '1' } });
  return found;
}
