/**
 * Texts of syslog: what a field may hold, and control characters that a receiver could take for the beginning of
 * another message.
 */

/** Not C0 but the tab, not DEL, C1, and the line and paragraph separators. */
const withoutControl = /^[\t -~\u00a0-\u2027\u202a-\uffff]*$/;
const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/g;
const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\0': '\\0' };

/**
 * Nothing that structured data escapes and no control character. One look instead of two; with anchors it costs the
 * least.
 */
const plainValue = /^[\t !#-[^-~\u00a0-\u2027\u202a-\uffff]*$/;
const specials = /["\\\]]/g;

/** The value of a parameter of structured data: `"`, `\` and `]` behind a backslash, no control characters. */
export function parameterValue(text: string): string {
  return plainValue.test(text) ? text : withoutControls(text).replace(specials, '\\$&');
}

/** Visible escapes instead of control characters: `\n`, `\x1b`, `\u2028`. */
export function withoutControls(text: string): string {
  if (withoutControl.test(text)) return text;
  return text.replace(controls, (character) => short[character] ?? escaped(character.charCodeAt(0)));
}

function escaped(code: number): string {
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

const unprintable = /[^\x21-\x7e]/;
const unprintables = /[^\x21-\x7e]+/g;

/** Printable ASCII without spaces, at most so long; `-` for nothing (RFC 5424, 6). */
export function printable(text: string, maxLength: number): string {
  const clean = unprintable.test(text) ? text.trim().replace(unprintables, '_') : text;
  return clean === '' ? '-' : clean.length > maxLength ? clean.slice(0, maxLength) : clean;
}

/** The beginning of the text that has at most so many bytes; no character is cut in two. */
export function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
