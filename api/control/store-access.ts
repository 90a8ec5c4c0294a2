/** What several resources need of a process with the store. */
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { Operations } from '../contract.js';
import { apiErrors } from '../errors.js';
import type { ControlIndices, ControlPorts } from './contract.js';

export function indicesOf({ indices }: Pick<ControlPorts, 'indices'>): ControlIndices {
  if (indices === undefined) throw withoutStore();
  return indices;
}

export function operationsOf({ operations }: Pick<ControlPorts, 'operations'>): Operations {
  const found = operations();
  if (found === undefined) throw withoutStore();
  return found;
}

export function withoutStore(): Error {
  return apiErrors.create('API_REQUEST_INVALID', {
    got: 'a request to a process without the store',
    allowed: 'a process with the role processor or api',
  });
}

/** Open indices of these sets; of all but the dead letters when none is named. */
export async function openIndices(
  ports: Pick<ControlPorts, 'indices' | 'rules'>,
  sets: readonly string[] | undefined,
): Promise<string[]> {
  const wanted = sets ?? (ports.rules()?.indexSets ?? []).map((set) => set.id).filter((id) => id !== deadLetterSet);
  const infos = await Promise.all(wanted.map((set) => indicesOf(ports).list(set)));
  return infos
    .flat()
    .filter((info) => info.open)
    .map((info) => info.name);
}
