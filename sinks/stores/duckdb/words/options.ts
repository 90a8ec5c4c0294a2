/** How words of texts get into the index of words. */
export interface WordIndexerOptions {
  /** Rows of a segment; 0: no words are kept. */
  readonly segmentRows: number;
  /**
   * Words of its rows together, each row's different ones: the segment ends with the row that reaches them. 8 bytes of
   * memory each.
   */
  readonly segmentPostings: number;
  /** Milliseconds without a write after which a smaller segment is made of what there is. */
  readonly idleMs: number;
  /** Between looks for work, milliseconds. */
  readonly everyMs: number;
  /** While more documents than these are written in a second, words wait. */
  readonly mostPerSecond: number;
  /** Free bytes of the disk that are left alone. */
  readonly reserveBytes: number;
}

export interface WordFailure {
  readonly index: string;
  readonly reason: string;
}

export interface WordFigures {
  /** Rows of attached indices whose words are not known yet. */
  readonly onBehind: (rows: number) => void;
  /** An index gets no words for now. */
  readonly onFailed: (failure: WordFailure) => void;
}

export const wordDefaults: WordIndexerOptions = {
  segmentRows: 49_152,
  segmentPostings: 2 ** 22,
  idleMs: 60_000,
  everyMs: 1_000,
  mostPerSecond: 8_000,
  reserveBytes: 0,
};
