/** Index sets and dead letters, as every process with the store can work on them. */
import { failure } from '../failure.js';
import type { ApiServices } from '../services.js';

type Operations = NonNullable<ApiServices['sluice']['operations']>;

export function operationsOf({ sluice }: Pick<ApiServices, 'sluice'>): Operations {
  if (sluice.operations === undefined)
    throw failure('API_STARTING', 'This process is being started; try again.', { headers: { 'retry-after': '1' } });
  return sluice.operations;
}
