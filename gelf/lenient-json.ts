/**
 * JSON (RFC 8259) as real senders write it: also a comma before a closing bracket, and raw control characters in
 * strings. Used where JSON.parse refuses; gives what JSON.parse gives for what it accepts. Linear in time, bounded in
 * depth.
 */
import { at } from '../core/at.js';
import { isSluiceError, type SluiceError } from '../core/errors.js';
import { gelfErrors } from './errors.js';

interface LenientValue {
  readonly value: unknown;
  /** Position behind the value. */
  readonly end: number;
}

/** Levels of arrays and objects; Graylog refuses the same. */
export const maxDepth = 1000;

/** The first JSON value of the text. */
export function parseLenient(text: string): LenientValue | SluiceError {
  const reader = new Reader(text);
  try {
    return { value: reader.value(0), end: reader.end };
  } catch (thrown) {
    return isSluiceError(thrown) ? thrown : invalid(text, reader.end, 'a JSON value');
  }
}

/** Position of the first character that is not JSON white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

export function invalid(text: string, at: number, allowed: string): SluiceError {
  const got = at >= text.length ? 'the end of the message' : JSON.stringify(text.slice(at, at + 20));
  return gelfErrors.create('DECODE_JSON_INVALID', { place: `character ${at + 1}`, got, allowed });
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get end(): number {
    return this.#at;
  }

  value(depth: number): unknown {
    this.#at = skipSpace(this.#text, this.#at);
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth + 1);
      case '[':
        return this.#array(depth + 1);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): Record<string, unknown> {
    this.#enter(depth);
    const object: Record<string, unknown> = {};
    while (!this.#closes('}')) {
      if (this.#text.charCodeAt(this.#at) !== quote)
        throw invalid(this.#text, this.#at, 'a field name in double quotes, or }');
      const name = this.#string();
      this.#at = skipSpace(this.#text, this.#at);
      if (this.#text.charCodeAt(this.#at) !== colon) throw invalid(this.#text, this.#at, 'a colon');
      this.#at += 1;
      const value = this.value(depth);
      if (name === '__proto__')
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      else object[name] = value;
      this.#afterElement('}');
    }
    return object;
  }

  #array(depth: number): unknown[] {
    this.#enter(depth);
    const array: unknown[] = [];
    while (!this.#closes(']')) {
      array.push(this.value(depth));
      this.#afterElement(']');
    }
    return array;
  }

  #enter(depth: number): void {
    if (depth > maxDepth) throw tooDeep(this.#at);
    this.#at += 1;
  }

  #closes(bracket: string): boolean {
    this.#at = skipSpace(this.#text, this.#at);
    if (this.#text[this.#at] !== bracket) return false;
    this.#at += 1;
    return true;
  }

  /** A comma, or the closing bracket, which stays for `#closes`. */
  #afterElement(bracket: string): void {
    this.#at = skipSpace(this.#text, this.#at);
    if (this.#text.charCodeAt(this.#at) === comma) this.#at += 1;
    else if (this.#text[this.#at] !== bracket) throw invalid(this.#text, this.#at, `a comma or ${bracket}`);
  }

  #string(): string {
    const text = this.#text;
    const parts: string[] = [];
    let from = this.#at + 1;
    for (let index = from; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code === quote) {
        this.#at = index + 1;
        parts.push(text.slice(from, index));
        return parts.length === 1 ? at(parts, 0) : parts.join('');
      }
      if (code !== backslash) continue;
      parts.push(text.slice(from, index), this.#escape(index + 1));
      index += text[index + 1] === 'u' ? 5 : 1;
      from = index + 1;
    }
    this.#at = text.length;
    throw invalid(text, text.length, 'a double quote that ends the string');
  }

  #escape(at: number): string {
    const letter = this.#text[at] ?? '';
    const plain = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (plain !== undefined) return plain;
    const digits = this.#text.slice(at + 1, at + 5);
    if (letter !== 'u' || !/^[\da-fA-F]{4}$/.test(digits))
      throw invalid(this.#text, at - 1, 'a JSON escape such as \\n, \\" or \\u00e9');
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) throw invalid(this.#text, this.#at, 'a JSON value');
    this.#at += word.length;
    return value;
  }

  #number(): number {
    numberPattern.lastIndex = this.#at;
    const match = numberPattern.exec(this.#text);
    if (match === null) throw invalid(this.#text, this.#at, 'a JSON value');
    this.#at += match[0].length;
    return Number(match[0]);
  }
}

function tooDeep(at: number): SluiceError {
  return gelfErrors.create('DECODE_JSON_TOO_DEEP', { place: `character ${at + 1}`, allowed: `${maxDepth} levels` });
}

/**
 * The refusal of text that is nested too deeply, found without building its values; undefined when it is not. Brackets
 * in strings do not count.
 */
export function checkDepth(text: string): SluiceError | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at) - 1;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return tooDeep(at);
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return undefined;
}

/** Position behind the string that begins at `from`, or the end of the text. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return text.length;
}
