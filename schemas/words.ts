/**
 * How text is cut into words, one definition for both stores: a word is a run of characters that are neither white
 * space, punctuation, symbol nor control character (Unicode general categories Z, P, S, Cc), lower-cased by code point.
 * The other categories of C (format characters such as the zero-width joiner, private use, unassigned) belong to words:
 * a tokenizer cannot list them. OpenSearch: `char_group` tokenizer and `lowercase` filter. Embedded: `separatorClass`
 * in RE2 expressions.
 */
export const separatorClass = '\\pZ\\pP\\pS\\p{Cc}';
const separators = /[\p{Z}\p{P}\p{S}\p{Cc}]+/u;
/** Of ASCII the same, several times faster. */
const plainText = /^[\0-\x7f]*$/;
const plainWord = /[\da-z]+/g;

/** Fields that are cut into words; all others are matched as whole values. */
export const textFields: ReadonlySet<string> = new Set(['message', 'full_message']);

/** Longer words are cut off at this many characters (the search engine's limit for one term is 32,766 bytes). */
export const maxWordLength = 4096;

/**
 * Small letters code point by code point, as both stores do it: no rule looks at neighbours (a final sigma) or adds
 * characters.
 */
export function lowerCase(text: string): string {
  const small = text.toLowerCase();
  if (small.length === text.length && !small.includes('ς')) return small;
  return Array.from(text, (one) => String.fromCodePoint(one.toLowerCase().codePointAt(0) ?? 0)).join('');
}

export function wordsOf(text: string): string[] {
  const small = lowerCase(text);
  const words = plainText.test(small)
    ? (small.match(plainWord) ?? [])
    : small.split(separators).filter((word) => word !== '');
  return small.length < maxWordLength ? words : words.map((word) => word.slice(0, maxWordLength));
}

/** Whether the words stand one after the other; nothing contains no words at all. */
export function containsPhrase(words: readonly string[], wanted: readonly string[]): boolean {
  if (wanted.length === 0) return false;
  for (let start = 0; start + wanted.length <= words.length; start += 1) {
    if (wanted.every((word, at) => words[start + at] === word)) return true;
  }
  return false;
}
