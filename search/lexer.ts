/**
 * Cuts a query text into tokens, in time linear in its length. After Lucene's classic query syntax, and more forgiving, since
 * people paste pieces of logs: behind `field:` a colon belongs to the value (times, addresses); `/.../` is an expression only
 * when white space, `)`, `^`, `~` or the end follows, so that paths are terms; `-`, `+`, `!` before white space and
 * `^`, `~` without a number behind are text.
 */
import { fail } from './problem.js';
import { scanRange } from './lexer-range.js';
import type { Token } from './tokens.js';

const space = /\s/;
const suffix = /[~^](?:\d+(?:\.\d*)?|\.\d+)?(?=[\s)~^]|$)/y;
const comparison = /(?:>=|<=|>|<)\s*/y;

interface Scan {
  readonly text: string;
  readonly tokens: Token[];
  /** For each open parenthesis whether it stands behind `field:`. */
  readonly groups: boolean[];
}

export function tokenize(text: string): readonly Token[] {
  const scan: Scan = { text, tokens: [], groups: [] };
  let at = 0;
  while (at < text.length) at = space.test(text.charAt(at)) ? at + 1 : scanToken(scan, at);
  scan.tokens.push({ kind: 'end', start: text.length, end: text.length });
  return scan.tokens;
}

function scanToken(scan: Scan, at: number): number {
  const { text, tokens } = scan;
  const last = tokens.at(-1);
  const behindColon = last?.kind === 'colon';
  const inValue = behindColon || last?.kind === 'compare';
  const inField = behindColon || (scan.groups.at(-1) ?? false);
  const sign = (kind: 'colon' | 'open' | 'close' | 'plus' | 'minus' | 'bang' | 'and' | 'or', length = 1) => {
    tokens.push({ kind, start: at, end: at + length });
    return at + length;
  };
  const glued = last !== undefined && last.end === at;
  const next = text.charAt(at + 1);
  switch (text.charAt(at)) {
    case '(':
      scan.groups.push(inField);
      return sign('open');
    case ')':
      scan.groups.pop();
      return sign('close');
    case '"':
      return scanPhrase(scan, at);
    case ':':
      if (last?.kind === 'word' || last?.kind === 'phrase') return sign('colon');
      break;
    case '[':
    case '{': {
      const token = scanRange(text, at);
      tokens.push(token);
      return token.end;
    }
    case '/': {
      const end = expressionEnd(text, at);
      if (end === undefined) break;
      tokens.push({ kind: 'regex', start: at, end, text: text.slice(at + 1, end - 1).replace(/\\([\s\S])/g, (pair, one: string) => (one === '/' ? one : pair)) });
      return end;
    }
    case '+':
    case '-':
    case '!':
      if (inValue || next === '' || space.test(next) || next === ')') break;
      return sign(text.charAt(at) === '+' ? 'plus' : text.charAt(at) === '-' ? 'minus' : 'bang');
    case '&':
    case '|':
      if (next !== text.charAt(at) || !(space.test(text.charAt(at + 2)) || text.charAt(at + 2) === '(')) break;
      return sign(next === '&' ? 'and' : 'or', 2);
    case '>':
    case '<': {
      if (!inField) break;
      const found = match(comparison, text, at);
      if (found === undefined) break;
      tokens.push({ kind: 'compare', start: at, end: at + found.length, text: found.trim() });
      return at + found.length;
    }
    case '~':
    case '^': {
      const found = glued ? match(suffix, text, at) : undefined;
      if (found === undefined) break;
      tokens.push({ kind: 'suffix', start: at, end: at + found.length, text: found });
      return at + found.length;
    }
  }
  return scanWord(scan, at, inValue);
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function scanPhrase(scan: Scan, start: number): number {
  const { text } = scan;
  let content = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const one = text.charAt(at);
    if (one === '"') {
      scan.tokens.push({ kind: 'phrase', start, end: at + 1, text: content });
      return at + 1;
    }
    if (one === '\\' && at + 1 < text.length) at += 1;
    content += text.charAt(at);
  }
  return fail('SEARCH_QUERY_UNCLOSED', { start, end: text.length }, text.slice(start), 'a phrase ends with "; \\" is a quotation mark within it or in a term');
}

/** The place behind the closing slash when an expression stands here. Each slash of the text is looked at once or twice. */
function expressionEnd(text: string, start: number): number | undefined {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '/') at += text.charAt(at) === '\\' ? 2 : 1;
  if (at >= text.length || at === start + 1) return undefined;
  return at + 1 === text.length || /[\s)^~]/.test(text.charAt(at + 1)) ? at + 1 : undefined;
}

function scanWord(scan: Scan, start: number, takesColons: boolean): number {
  const { text } = scan;
  let content = '';
  const wildcards: number[] = [];
  let at = start;
  for (; at < text.length; at += 1) {
    const one = text.charAt(at);
    if (one === '\\') {
      if (at + 1 === text.length) fail('SEARCH_QUERY_SYNTAX', { start: at, end: at + 1 }, '\\ at the end', 'a character behind \\; \\\\ is one \\', '\\\\');
      at += 1;
      content += text.charAt(at);
      continue;
    }
    if (space.test(one) || one === '(' || one === ')' || one === '"') break;
    if (one === ':' && !takesColons && at > start) break;
    if ((one === '~' || one === '^') && at > start && match(suffix, text, at) !== undefined) break;
    if (one === '*' || one === '?') wildcards.push(content.length);
    content += one;
  }
  scan.tokens.push({ kind: 'word', start, end: at, text: content, wildcards, raw: text.slice(start, at) });
  return at;
}
