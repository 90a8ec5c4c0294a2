import type { RetentionSettings } from '../../../schemas/index-sets.js';
import { retentionByClose } from './close.js';
import type { RetainedIndex, Retention, RetentionAction } from './contract.js';
import { retentionByDelete } from './delete.js';
import { retentionByNone } from './none.js';

export const retentions: Readonly<Record<RetentionSettings['type'], Retention>> = {
  delete: retentionByDelete,
  close: retentionByClose,
  none: retentionByNone,
};

/**
 * The oldest indices that are too many, or that the total is too large by: oldest first, never the newest.
 * `indices` is sorted by number, ascending.
 */
export function expiredIndices(
  settings: RetentionSettings,
  indices: readonly RetainedIndex[],
): { readonly name: string; readonly action: RetentionAction }[] {
  const { action, counts } = retentions[settings.type];
  if (action === undefined) return [];
  const counted = indices.filter((index) => counts(index));
  const newest = indices.at(-1);
  let number = counted.length;
  let bytes = counted.reduce((sum, index) => sum + index.bytes, 0);
  const over: { name: string; action: RetentionAction }[] = [];
  for (const index of counted) {
    const tooMany = settings.max_indices !== undefined && number > settings.max_indices;
    const tooLarge = settings.max_total_bytes !== undefined && bytes > settings.max_total_bytes;
    if (index === newest || (!tooMany && !tooLarge)) break;
    over.push({ name: index.name, action });
    number -= 1;
    bytes -= index.bytes;
  }
  return over;
}
