/** What only a process with the role processor can do. */
import { failure } from '../failure.js';
import type { ApiServices } from '../services.js';

type Processor = NonNullable<ApiServices['sluice']['processor']>;

export function processorOf({ sluice }: ApiServices): Processor {
  if (sluice.processor === undefined) throw failure(503, 'This process has no processor; ask one that has.');
  return sluice.processor;
}
