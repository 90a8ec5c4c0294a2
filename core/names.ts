/** Names that people give to users and roles: what can be one, and when two are the same. */

export const maxNameLength = 100;
export const nameRule = `1 to ${maxNameLength} characters, none of them a colon, a slash or a control character, no blank at the ends, and not 24 hexadecimal digits`;

/** Names are compared in any case, and composed or decomposed letters are the same. */
export function keyOfName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/**
 * A colon cannot be sent with Basic authentication, a slash not in a path; what looks like an id would be taken for
 * one.
 */
export function isName(name: string): boolean {
  const text = name.normalize('NFC');
  return (
    text.length >= 1 &&
    text.length <= maxNameLength &&
    text.trim() === text &&
    !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}:/]/u.test(text) &&
    !/^[0-9a-f]{24}$/i.test(text)
  );
}
