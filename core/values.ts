/**
 * How texts of a query are read as values, and how values compare: the same in the reference evaluation and in the
 * stores (`schemas/query.ts`).
 */

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number that a text reads as: decimal, with an exponent or without; undefined otherwise. */
export function readNumber(text: string): number | undefined {
  if (!number.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : undefined;
}

/** Order by code point, as UTF-8 bytes order; JavaScript's `<` differs beyond U+FFFF. */
export function compareCodePoints(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
