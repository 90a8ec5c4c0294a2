/**
 * The indices that are written to, judged before the first write; one that a newer program made may be met later too,
 * and stops the processor then.
 */
import { isSluiceError } from '../../core/errors.js';
import type { IndexStore } from '../../sinks/stores/contract.js';

/**
 * Rejects with FORMAT_NEWER or FORMAT_TOO_OLD. Whatever else is wrong with an index is found, and waited for, when it
 * is written to.
 */
export async function assertWritable(store: IndexStore, indices: readonly string[]): Promise<void> {
  await Promise.all(
    indices.map(async (index) => {
      try {
        await store.indices.fieldTypes(index);
      } catch (error) {
        if (isSluiceError(error) && error.code.startsWith('FORMAT_')) throw error;
      }
    }),
  );
}
