/** How values compare in both stores (`schemas/query.ts`). */

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number that a term reads as: decimal, with an exponent or without; undefined otherwise. */
export function readNumber(text: string): number | undefined {
  if (!number.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
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

const indexName = /^[A-Za-z0-9][\w.-]{0,199}$/;

export function isIndexName(name: string): boolean {
  return indexName.test(name);
}

/** n of `<prefix>_<n>`; undefined for any other name. */
export function indexNumber(name: string, prefix: string): number | undefined {
  if (!name.startsWith(`${prefix}_`)) return undefined;
  const digits = name.slice(prefix.length + 1);
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}
