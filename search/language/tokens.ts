/** The tokens of a query text. */
import type { TextSpan } from '../contract.js';

export interface WordToken extends TextSpan {
  readonly kind: 'word';
  /** With escapes resolved; wildcards as they stand. */
  readonly text: string;
  /** Characters of `text` that are wildcards, by their place; empty: a plain term. */
  readonly wildcards: readonly number[];
  /** As written. */
  readonly raw: string;
}
export interface TextToken extends TextSpan {
  readonly kind: 'phrase' | 'regex' | 'compare' | 'suffix';
  readonly text: string;
}
export interface EndToken {
  readonly text: string;
  readonly quoted: boolean;
  readonly span: TextSpan;
}
export interface RangeToken extends TextSpan {
  readonly kind: 'range';
  readonly from: EndToken;
  readonly to: EndToken;
  readonly includesFrom: boolean;
  readonly includesTo: boolean;
}
export interface SignToken extends TextSpan {
  readonly kind: 'colon' | 'open' | 'close' | 'plus' | 'minus' | 'bang' | 'and' | 'or' | 'end';
}
export type Token = WordToken | TextToken | RangeToken | SignToken;
