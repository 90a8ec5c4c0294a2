/** Words of Graylog's rule language: one pass over the text. */
import { at } from '../../../core/at.js';
import { longestText, type Position } from '../contract.js';
import { wrongAt } from './problem.js';

export interface Token extends Position {
  readonly kind: 'word' | 'quoted word' | 'text' | 'number' | 'sign' | 'end';
  /** A text without quotes and escapes; a word as it is written. */
  readonly text: string;
  /** Of a number. */
  readonly value?: number;
}

const word = /[$A-Za-z_][A-Za-z0-9_]*/y;
const quotedWord = /`([^`\r\n]*)`/y;
const space = /\s+/y;
const comment = /\/\/[^\r\n]*/y;
const number = /0[xX][0-9A-Fa-f_]+[lL]?|0[bB][01_]+[lL]?|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?[lLfFdD]?/y;
const sign = /&&|\|\||[=!<>]=|[()[\]{},;:.!<>=+\-*/%]/y;
const escapeSequence = /\\(?:([btnfr"'\\])|u+([0-9A-Fa-f]{4})|([0-3]?[0-7]{1,2}))/y;
const escapes: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r' };

export function tokensOf(source: string): readonly Token[] {
  if (source.length > longestText)
    throw wrongAt({ line: 1, column: 1 }, `The text has ${source.length} characters; ${longestText} are allowed.`);
  const tokens: Token[] = [];
  const where = createPositions(source);
  let index = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = index;
    const match = pattern.exec(source);
    if (match === null || match[0] === '') return undefined;
    index += match[0].length;
    return match;
  };
  while (index < source.length) {
    if (take(space) !== undefined || take(comment) !== undefined) continue;
    const position = where(index);
    if (source.startsWith('/*', index)) {
      const end = source.indexOf('*/', index + 2);
      if (end < 0) throw wrongAt(position, 'The comment that begins here has no end.');
      index = end + 2;
      continue;
    }
    const character = at(source, index);
    if (character === '"' || character === "'") {
      const { text, end } = textAt(source, index, where);
      tokens.push({ kind: 'text', text, ...position });
      index = end;
      continue;
    }
    tokens.push(plainToken(take, position, character));
  }
  return [...tokens, { kind: 'end', text: 'the end of the text', ...where(source.length) }];
}

function plainToken(
  take: (pattern: RegExp) => RegExpExecArray | undefined,
  position: Position,
  character: string,
): Token {
  const name = take(word);
  if (name !== undefined) return { kind: 'word', text: name[0], ...position };
  const quoted = take(quotedWord);
  if (quoted !== undefined) return { kind: 'quoted word', text: quoted[1] ?? '', ...position };
  const digits = take(number);
  if (digits !== undefined)
    return { kind: 'number', text: digits[0], value: numberOf(digits[0], position), ...position };
  const found = take(sign);
  if (found !== undefined) return { kind: 'sign', text: found[0], ...position };
  throw wrongAt(position, `The character ${JSON.stringify(character)} means nothing here.`);
}

/** A leading zero makes a number octal. */
function numberOf(text: string, position: Position): number {
  const digits = text.replaceAll('_', '');
  const hex = /^0[xX]/.test(digits);
  const plain = hex ? digits.replace(/[lL]$/, '') : digits.replace(/[lLfFdD]$/, '');
  const value = /^0\d+$/.test(plain) ? Number.parseInt(plain, 8) : Number(plain);
  if (!Number.isFinite(value)) throw wrongAt(position, `${text} is no number.`);
  return value;
}

/** `"..."` or `'...'` with the escapes of Java. */
function textAt(
  source: string,
  start: number,
  where: (index: number) => Position,
): { readonly text: string; readonly end: number } {
  const quote = at(source, start);
  let text = '';
  let index = start + 1;
  while (source[index] !== quote) {
    if (index >= source.length) throw wrongAt(where(start), 'The text that begins here has no end.');
    if (source[index] !== '\\') {
      text += at(source, index);
      index += 1;
      continue;
    }
    escapeSequence.lastIndex = index;
    const match = escapeSequence.exec(source);
    if (match === null)
      throw wrongAt(
        where(index),
        `\\${source[index + 1] ?? ''} is no escape in a text; a backslash of a pattern is written \\\\.`,
      );
    const [whole, letter, hex, octal] = match;
    text +=
      letter !== undefined
        ? (escapes[letter] ?? letter)
        : String.fromCharCode(Number.parseInt(hex ?? octal ?? '0', hex === undefined ? 8 : 16));
    index += whole.length;
  }
  return { text, end: index + 1 };
}

/** Asked in ascending order of places, but for a few; each line end is counted once. */
function createPositions(source: string): (index: number) => Position {
  const starts = [0];
  for (let index = source.indexOf('\n'); index >= 0; index = source.indexOf('\n', index + 1)) starts.push(index + 1);
  let line = 0;
  return (index) => {
    while (line > 0 && at(starts, line) > index) line -= 1;
    while (line + 1 < starts.length && at(starts, line + 1) <= index) line += 1;
    return { line: line + 1, column: index - at(starts, line) + 1 };
  };
}
