/** What a search finds before its documents are read, and in which order. */
import { compareCodePoints } from '../../../../core/values.js';
import type { IndexFile } from '../files/index-file.js';

export interface SearchedIndex {
  readonly name: string;
  readonly file: IndexFile;
}

export interface Found {
  readonly index: SearchedIndex;
  readonly row: number;
  readonly number: number | null;
  readonly text: string | null;
  readonly id: string;
}

export interface Matches {
  readonly count: number;
  readonly first: readonly Found[];
}

/** Numbers before texts before missing ones, whatever the direction. */
export function compareFound(direction: 'asc' | 'desc'): (a: Found, b: Found) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (a, b) => {
    if (a.number !== b.number) {
      if (a.number === null) return 1;
      return b.number === null ? -1 : (a.number - b.number) * sign;
    }
    if (a.text !== b.text) {
      if (a.text === null) return 1;
      return b.text === null ? -1 : compareCodePoints(a.text, b.text) * sign;
    }
    return (compareCodePoints(a.id, b.id) || compareCodePoints(a.index.name, b.index.name)) * sign;
  };
}
