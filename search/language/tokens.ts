/** The tokens of a query text. */
import type { Place } from './problem.js';

export interface WordToken extends Place {
  readonly kind: 'word';
  /** With escapes resolved; wildcards as they stand. */
  readonly text: string;
  /** Characters of `text` that are wildcards, by their place; empty: a plain term. */
  readonly wildcards: readonly number[];
  /** As written. */
  readonly raw: string;
}
export interface TextToken extends Place {
  readonly kind: 'phrase' | 'regex' | 'compare' | 'suffix';
  readonly text: string;
}
export interface EndToken {
  readonly text: string;
  readonly quoted: boolean;
  readonly place: Place;
}
export interface RangeToken extends Place {
  readonly kind: 'range';
  readonly from: EndToken;
  readonly to: EndToken;
  readonly includesFrom: boolean;
  readonly includesTo: boolean;
}
export interface SignToken extends Place {
  readonly kind: 'colon' | 'open' | 'close' | 'plus' | 'minus' | 'bang' | 'and' | 'or' | 'end';
}
export type Token = WordToken | TextToken | RangeToken | SignToken;
