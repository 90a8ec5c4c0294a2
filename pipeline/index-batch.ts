/** What routing hands to writing: the documents of one batch that are bound for one concrete index. */

import { at } from '../core/at.js';

/** The arrays run parallel: the same position in each is about the same document. */
export interface IndexBatch {
  readonly indexSet: string;
  readonly index: string;
  readonly ids: string[];
  readonly offsets: number[];
  /** JSON text. */
  readonly documents: string[];
  /** Positions of the documents' records among the records that were routed. */
  readonly recordPositions: number[];
  /** Receive time of the first document. */
  oldest: number;
}

/** The documents at these positions of the batch. */
export function pickDocuments(batch: IndexBatch, positions: readonly number[]): IndexBatch {
  const pick = <Item>(items: readonly Item[]): Item[] => positions.map((index) => at(items, index));
  return {
    ...batch,
    ids: pick(batch.ids),
    offsets: pick(batch.offsets),
    documents: pick(batch.documents),
    recordPositions: pick(batch.recordPositions),
  };
}
