/** What several routes need of the running program's store. */
import { deadLetterSet } from '../../pipeline/route.js';
import type { Processor } from '../../pipeline/processor.js';
import type { Sluice } from '../../pipeline/sluice.js';
import { apiErrors } from '../errors.js';

export function storeOf(sluice: Sluice): NonNullable<Sluice['store']> {
  if (sluice.store === undefined) throw withoutProcessor();
  return sluice.store;
}

export function processorOf(sluice: Sluice): Processor {
  if (sluice.processor === undefined) throw withoutProcessor();
  return sluice.processor;
}

function withoutProcessor(): Error {
  return apiErrors.create('API_REQUEST_INVALID', { got: 'a request that only the role processor can answer', allowed: 'a process with it' });
}

/** Open indices of these sets; of all but the dead letters when none is named. */
export async function openIndices(sluice: Sluice, sets: readonly string[] | undefined): Promise<string[]> {
  const wanted = sets ?? (sluice.processor?.rules()?.indexSets ?? []).map((set) => set.id).filter((id) => id !== deadLetterSet);
  const infos = await Promise.all(wanted.map((set) => storeOf(sluice).listIndices(set)));
  return infos.flat().filter((info) => info.open).map((info) => info.name);
}
