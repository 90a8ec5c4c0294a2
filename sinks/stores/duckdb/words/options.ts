/** How words of texts get into the index of words. */
export interface WordIndexerOptions {
  /** Rows of a segment; 0: no words are kept. */
  readonly segmentRows: number;
  /** Milliseconds without a write after which a smaller segment is made of what there is. */
  readonly idleMs: number;
  /** Between looks for work, milliseconds. */
  readonly everyMs: number;
  /** While more documents than these are written in a second, words wait. */
  readonly mostPerSecond: number;
}

export const wordDefaults: WordIndexerOptions = { segmentRows: 49_152, idleMs: 60_000, everyMs: 1_000, mostPerSecond: 8_000 };
