/** 31 bits of FNV-1a over the UTF-16 units: words lie in this order, and a look-up compares numbers and not texts. */
export function wordHash(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 1;
}
