/**
 * Cuts a query text into tokens, in time linear in its length. After Lucene's classic query syntax, and more forgiving,
 * since people paste pieces of logs: behind `field:` a colon belongs to the value (times, addresses); `/.../` is an
 * expression only when white space, `)`, `^`, `~` or the end follows, so that paths are terms; `-`, `+`, `!` before
 * white space and `^`, `~` without a number behind are text; so are `&&` and `||` within a word and at its end.
 */
import { fail } from './problem.js';
import { scanRange } from './lexer-range.js';
import type { SignToken, Token } from './tokens.js';

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

/** Pushes the token that begins here and returns the place behind it. */
function scanToken(scan: Scan, at: number): number {
  const { text, tokens } = scan;
  switch (text.charAt(at)) {
    case '"':
      return scanPhrase(scan, at);
    case '[':
    case '{': {
      const token = scanRange(text, at);
      tokens.push(token);
      return token.end;
    }
    case '/': {
      const end = expressionEnd(text, at);
      if (end === undefined) break;
      tokens.push({
        kind: 'regex',
        start: at,
        end,
        text: text.slice(at + 1, end - 1).replace(/\\([\s\S])/g, (pair, one: string) => (one === '/' ? one : pair)),
      });
      return end;
    }
    case '>':
    case '<':
      if (isInField(scan) && scanMatch(scan, 'compare', comparison, at)) return tokens.at(-1)?.end ?? at;
      break;
    case '~':
    case '^':
      if (tokens.at(-1)?.end === at && scanMatch(scan, 'suffix', suffix, at)) return tokens.at(-1)?.end ?? at;
      break;
  }
  const sign = signAt(scan, at);
  if (sign === undefined) return scanWord(scan, at, isValue(tokens.at(-1)));
  if (sign === 'open') scan.groups.push(isInField(scan));
  if (sign === 'close') scan.groups.pop();
  const end = at + (sign === 'and' || sign === 'or' ? 2 : 1);
  tokens.push({ kind: sign, start: at, end });
  return end;
}

function isInField(scan: Scan): boolean {
  return scan.tokens.at(-1)?.kind === 'colon' || (scan.groups.at(-1) ?? false);
}

/** Behind `field:` or `field:>`. */
function isValue(last: Token | undefined): boolean {
  return last?.kind === 'colon' || last?.kind === 'compare';
}

function signAt(scan: Scan, at: number): Exclude<SignToken['kind'], 'end'> | undefined {
  const one = scan.text.charAt(at);
  const next = scan.text.charAt(at + 1);
  const last = scan.tokens.at(-1);
  if (one === '(') return 'open';
  if (one === ')') return 'close';
  if (one === ':') return last?.kind === 'word' || last?.kind === 'phrase' ? 'colon' : undefined;
  if (one === '&' || one === '|') {
    const behind = scan.text.charAt(at + 2);
    return next === one && (space.test(behind) || behind === '(' || isBehindClause(scan, at))
      ? one === '&'
        ? 'and'
        : 'or'
      : undefined;
  }
  const kind = prefixes[one];
  return kind === undefined || isValue(last) || next === '' || space.test(next) || next === ')' ? undefined : kind;
}
/** Right behind what closes itself, or with white space between; a word would have gone on. */
function isBehindClause({ text, tokens }: Scan, at: number): boolean {
  const last = tokens.at(-1);
  return last !== undefined && ends.has(last.kind) && (last.end === at || space.test(text.charAt(at - 1)));
}
const ends: ReadonlySet<Token['kind']> = new Set(['word', 'phrase', 'regex', 'range', 'suffix', 'close']);
const prefixes: Readonly<Record<string, 'plus' | 'minus' | 'bang'>> = { '+': 'plus', '-': 'minus', '!': 'bang' };

function scanMatch(scan: Scan, kind: 'compare' | 'suffix', pattern: RegExp, at: number): boolean {
  const found = match(pattern, scan.text, at);
  if (found !== undefined) scan.tokens.push({ kind, start: at, end: at + found.length, text: found.trim() });
  return found !== undefined;
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
  return fail(
    'SEARCH_QUERY_UNCLOSED',
    { start, end: text.length },
    { got: text.slice(start), allowed: 'a phrase ends with "; \\" is a quotation mark within it or in a term' },
  );
}

/**
 * The place behind the closing slash when an expression stands here. Each slash of the text is looked at once or twice.
 */
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
      if (at + 1 === text.length)
        fail(
          'SEARCH_QUERY_SYNTAX',
          { start: at, end: at + 1 },
          { got: '\\ at the end', allowed: 'a character behind \\; \\\\ is one \\', didYouMean: '\\\\' },
        );
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
