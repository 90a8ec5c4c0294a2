/** Reads tokens from left to right, without going back. */
import { at } from '../../../core/at.js';
import { wrongAt } from './problem.js';
import { tokensOf, type Token } from './tokens.js';

export interface Cursor {
  peek(): Token;
  next(): Token;
  /** Takes the next token when it is this sign. */
  sign(text: string): boolean;
  /** Takes the next token when it is this word, in any case. */
  word(text: string): boolean;
  expectSign(text: string): void;
  expectWord(text: string): void;
  /** A text in quotes. */
  expectText(what: string): string;
  expectEnd(): void;
}

export function createCursor(source: string): Cursor {
  const tokens = tokensOf(source);
  let index = 0;
  const peek = (): Token => at(tokens, index);
  const next = (): Token => {
    const token = peek();
    if (token.kind !== 'end') index += 1;
    return token;
  };
  const takes = (holds: boolean): boolean => {
    if (holds) next();
    return holds;
  };
  const sign = (text: string): boolean => takes(peek().kind === 'sign' && peek().text === text);
  const word = (text: string): boolean => takes(isWord(peek(), text));
  const expected = (what: string): Error => wrongAt(peek(), `Expected ${what}, got ${shownToken(peek())}.`);
  return {
    peek,
    next,
    sign,
    word,
    expectSign(text) {
      if (!sign(text)) throw expected(`\`${text}\``);
    },
    expectWord(text) {
      if (!word(text)) throw expected(`\`${text}\``);
    },
    expectText(what) {
      if (peek().kind !== 'text') throw expected(what);
      return next().text;
    },
    expectEnd() {
      if (peek().kind !== 'end') throw expected('the end of the text');
    },
  };
}

export function isWord(token: Token, text: string): boolean {
  return token.kind === 'word' && token.text.toLowerCase() === text;
}

export function shownToken({ kind, text }: Token): string {
  return kind === 'end' ? text : `\`${text.slice(0, 50)}\``;
}
