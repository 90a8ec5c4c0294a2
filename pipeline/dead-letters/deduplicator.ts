/**
 * One dead letter for each message and index set, whatever the reason (rule 10). A crash between the append of a dead
 * letter and the commit of its message appends it again, later in the topic and perhaps for a newer index: it is
 * recognised by its id. Letters are few, so each is looked for in every index of their set.
 */
import { isSluiceError } from '../../core/errors.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { pickDocuments, type IndexBatch } from '../index-batch.js';
import { deadLetterIndices } from './find.js';
import type { deadLetterMetrics } from './metrics.js';

/** Codes are declared, but a foreign producer may write what it likes into the topic. */
const codeForm = /"code":"([A-Z][A-Z0-9_]{2,63})"/;
const maxCodes = 100;

export interface DeadLetterDeduplicator {
  /**
   * Takes dead letters that are there already out of the batches; resolves with the indices that have them (rule 12).
   */
  leaveOut(batches: Map<string, IndexBatch>): Promise<readonly string[]>;
}

export function createDeadLetterDeduplicator(
  store: IndexStore,
  metrics: BuiltMetrics<typeof deadLetterMetrics>,
): DeadLetterDeduplicator {
  const codes = new Set<string>();
  const count = (batch: IndexBatch): void => {
    for (const document of batch.documents) {
      const code = codeForm.exec(document)?.[1] ?? 'OTHER';
      if (codes.size < maxCodes) codes.add(code);
      metrics.kept.inc({ code: codes.has(code) ? code : 'OTHER' });
    }
  };
  return {
    async leaveOut(batches) {
      const looked = [...batches.values()].flatMap(({ ids }) => ids.filter(isRefused));
      const { known, places } =
        looked.length === 0 ? { known: new Set<string>(), places: [] } : await find(store, looked);
      let out = 0;
      for (const [index, batch] of batches) {
        const kept = batch.ids.flatMap((id, at) => {
          if (known.has(id)) return [];
          // The same dead letter twice in one batch.
          if (isRefused(id)) known.add(id);
          return [at];
        });
        out += batch.ids.length - kept.length;
        if (kept.length === 0) batches.delete(index);
        else if (kept.length < batch.ids.length) batches.set(index, pickDocuments(batch, kept));
      }
      metrics.known.inc(out);
      for (const batch of batches.values()) count(batch);
      return places;
    },
  };
}

/** Written by a processor. Refused input has a receiver's id, whose repetitions rule 5 recognises. */
const isRefused = (id: string): boolean => id.includes('@');

async function find(store: IndexStore, ids: readonly string[]): Promise<{ known: Set<string>; places: string[] }> {
  const known = new Set<string>();
  const places: string[] = [];
  for (const place of await deadLetterIndices(store)) {
    const look = () =>
      store.documents.read(place, ids).catch((error: unknown) => {
        // One that is blocked is met again by the write; one that is gone holds nothing.
        if (isSluiceError(error) && /^STORE_INDEX_/.test(error.code)) return new Map<string, never>();
        throw error;
      });
    let found = await look();
    if (found.size > 0) {
      // Rule 12: what was met may be lost until the flush, so it is looked at afterwards.
      await store.documents.sync(place);
      found = await look();
    }
    if (found.size > 0) places.push(place);
    for (const id of found.keys()) known.add(id);
  }
  return { known, places };
}
