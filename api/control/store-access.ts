/** What several routes need of the running program's store. */
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { Sluice } from '../../program/sluice.js';
import { apiErrors } from '../errors.js';

export function storeOf(sluice: Sluice): NonNullable<Sluice['store']> {
  if (sluice.store === undefined) throw withoutStore();
  return sluice.store;
}

export function operationsOf(sluice: Sluice): NonNullable<Sluice['operations']> {
  if (sluice.operations === undefined) throw withoutStore();
  return sluice.operations;
}

function withoutStore(): Error {
  return apiErrors.create('API_REQUEST_INVALID', {
    got: 'a request to a process without the store',
    allowed: 'a process with the role processor or api',
  });
}

/** Open indices of these sets; of all but the dead letters when none is named. */
export async function openIndices(sluice: Sluice, sets: readonly string[] | undefined): Promise<string[]> {
  const wanted = sets ?? (sluice.rules()?.indexSets ?? []).map((set) => set.id).filter((id) => id !== deadLetterSet);
  const infos = await Promise.all(wanted.map((set) => storeOf(sluice).listIndices(set)));
  return infos
    .flat()
    .filter((info) => info.open)
    .map((info) => info.name);
}
