/**
 * Finds where JSON values begin and end, without parsing them: the bytes of each stay as the sender wrote them. Only
 * quotes, escapes and brackets are looked at; whether a value is valid is for the decoder to say.
 */
import { isSpace, trim } from '../../core/trim.js';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export type Documents = { readonly documents: readonly Buffer[] } | { readonly problem: 'too_many' | 'not_an_array' };

/**
 * Values with white space between them; what stands behind the last complete one comes as a last document of its own.
 */
export function splitDocuments(bytes: Buffer, most: number): Documents {
  const documents: Buffer[] = [];
  let at = skipSpace(bytes, 0);
  while (at < bytes.length) {
    if (documents.length === most) return { problem: 'too_many' };
    const first = bytes[at];
    const end = first === openBrace || first === openBracket ? endOfValue(bytes, at) : bytes.length;
    documents.push(bytes.subarray(at, end === -1 ? bytes.length : end));
    if (end === -1) break;
    at = skipSpace(bytes, end);
  }
  return { documents };
}

/** The elements of the one array that the bytes are. A comma before the closing bracket is allowed. */
export function splitArray(bytes: Buffer, most: number): Documents {
  const elements: Buffer[] = [];
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== openBracket) return { problem: 'not_an_array' };
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== closeBracket) {
    const end = endOfValue(bytes, at);
    if (end === -1 || end === at) return { problem: 'not_an_array' };
    if (elements.length === most) return { problem: 'too_many' };
    elements.push(bytes.subarray(at, end));
    at = skipSpace(bytes, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== closeBracket) return { problem: 'not_an_array' };
  }
  return skipSpace(bytes, at + 1) === bytes.length ? { documents: elements } : { problem: 'not_an_array' };
}

/** Lines that are not blank, without their line end. */
export function splitLines(bytes: Buffer, most: number): Documents {
  const lines: Buffer[] = [];
  for (let at = skipSpace(bytes, 0); at < bytes.length; ) {
    if (lines.length === most) return { problem: 'too_many' };
    const newline = bytes.indexOf(0x0a, at);
    const end = newline === -1 ? bytes.length : newline;
    lines.push(trim(bytes.subarray(at, end)));
    at = skipSpace(bytes, end);
  }
  return { documents: lines };
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at])) at += 1;
  return at;
}

/** The position behind the value that begins at `from`; -1 when it does not end. */
function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === quote) return endOfString(bytes, from);
  if (first === openBrace || first === openBracket) return endOfContainer(bytes, from);
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === comma || byte === closeBracket || byte === closeBrace || isSpace(byte)) return at;
  }
  return bytes.length;
}

function endOfContainer(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      const end = endOfString(bytes, at);
      if (end === -1) return -1;
      at = end - 1;
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function endOfString(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    const end = bytes.indexOf(quote, at);
    if (end === -1) return -1;
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash && end - 1 - escapes > from) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
    at = end + 1;
  }
}
