/**
 * Query text to tree. Grammar, from loose to tight:
 *
 *   sequence := chain ((OR | "||")? chain)*       clauses side by side: one of them suffices, as with the peers
 *   chain    := unary ((AND | "&&") unary)*
 *   unary    := ("+" | "-" | "!" | NOT)* clause
 *   clause   := (field ":")? (word | phrase | "/" regex "/" | range | (">" | ">=" | "<" | "<=") value | "(" sequence
 *   ")") ("^" n | "~" n)*
 *
 * Side by side, `+a` must match, `-a`, `!a` and `NOT a` must not, and beside a `+` the plain ones decide nothing.
 * Written with AND and OR the operators are plain Boolean logic. `and`, `or`, `not` are operators in any case when they
 * stand between (`not`: before) clauses; elsewhere small ones are words. Boosts change nothing, since results are
 * sorted by time. Fuzziness and proximity are read and taken as exact. Aliases and times: `leaves.ts`.
 */
import { at } from '../../core/at.js';
import type { QueryNode } from '../../schemas/query.js';
import { comparisonLeaf, expressionLeaf, rangeLeaf, textLeaf, wordLeaf, type LeafContext } from './leaves.js';
import { tokenize } from './lexer.js';
import type { TextSpan } from '../contract.js';
import { fail, QueryFailure, type QueryProblem } from './problem.js';
import { checkSize, type ClauseSpans } from './size.js';
import type { TextToken, Token, WordToken } from './tokens.js';
import { all, and, not, or } from './tree.js';

export interface QueryOptions {
  /** What `now` means, milliseconds since the epoch. Default: the time of the call. */
  readonly now?: number;
  /** Search each of two names of one thing for the other. Default: true. */
  readonly aliases?: boolean;
  /** Longest text in UTF-16 units. Default: 65,536, above any query that a person or dashboard sends. */
  readonly maxLength?: number;
  /** Most clauses; one without a field counts three. Default: 1,000, since OpenSearch stops at 1,024. */
  readonly maxClauses?: number;
  /**
   * Deepest nesting of `and`, `or` and `not`. Default: 16, since OpenSearch stops at 20. Parentheses: four times as
   * many.
   */
  readonly maxDepth?: number;
  /** Words may begin with a wildcard. Default: true. */
  readonly leadingWildcards?: boolean;
}

type Occur = 'should' | 'must' | 'never';
interface Item {
  readonly occur: Occur;
  readonly node: QueryNode;
  /** Joined to a neighbour by a written OR: plain logic. */
  explicit: boolean;
}

export interface LocatedQuery {
  readonly kind: 'query';
  readonly node: QueryNode;
  readonly spans: ClauseSpans;
}

/** Never throws. Time and memory are linear in the text. */
export function parseQuery(text: string, options: QueryOptions = {}): QueryNode | QueryProblem {
  const parsed = parseLocated(text, options);
  return parsed.kind === 'query' ? parsed.node : parsed;
}

/** With the place of each clause. */
export function parseLocated(text: string, options: QueryOptions = {}): LocatedQuery | QueryProblem {
  const { maxLength = 65_536, maxClauses = 1000, maxDepth = 16 } = options;
  const spans: Cursor['spans'] = new Map();
  try {
    if (text.length > maxLength)
      return fail(
        'SEARCH_QUERY_TOO_LARGE',
        { start: maxLength, end: text.length },
        { got: `${text.length} characters`, allowed: `${maxLength} characters` },
      );
    if (text.trim() === '') return { kind: 'query', node: all, spans };
    const context = {
      now: options.now ?? Date.now(),
      aliases: options.aliases ?? true,
      leadingWildcards: options.leadingWildcards ?? true,
    };
    const node = parseWhole({
      tokens: tokenize(text),
      text,
      context,
      maxParentheses: maxDepth * 4,
      spans,
      at: 0,
      open: 0,
    });
    checkSize(node, spans, { maxClauses, maxDepth });
    return { kind: 'query', node, spans };
  } catch (thrown) {
    if (thrown instanceof QueryFailure) return thrown.problem;
    throw thrown;
  }
}

type ClauseSpan = ClauseSpans extends ReadonlyMap<QueryNode, infer Entry> ? Entry : never;

interface Cursor {
  readonly tokens: readonly Token[];
  readonly text: string;
  readonly context: LeafContext;
  readonly maxParentheses: number;
  readonly spans: Map<QueryNode, ClauseSpan>;
  at: number;
  open: number;
}

function peek(cursor: Cursor, ahead = 0): Token {
  return at(cursor.tokens, Math.min(cursor.at + ahead, cursor.tokens.length - 1));
}

function written(cursor: Cursor, span: TextSpan): string {
  return span.start === cursor.text.length ? 'the end of the query' : cursor.text.slice(span.start, span.end);
}

function parseWhole(cursor: Cursor): QueryNode {
  const node = parseSequence(cursor, undefined);
  const token = peek(cursor);
  return token.kind === 'end'
    ? node
    : fail('SEARCH_QUERY_SYNTAX', token, {
        got: ') without (',
        allowed: 'a ( for each ); as text it is written in quotes or as \\)',
      });
}

function parseSequence(cursor: Cursor, field: string | undefined): QueryNode {
  const items: Item[] = [];
  let joined = false;
  while (peek(cursor).kind !== 'end' && peek(cursor).kind !== 'close') {
    const item = parseChain(cursor, field, joined);
    const previous = items.at(-1);
    if (joined && previous !== undefined) previous.explicit = true;
    items.push(item);
    joined = takeOperator(cursor, 'or');
  }
  return combine(items);
}

function parseChain(cursor: Cursor, field: string | undefined, explicit: boolean): Item {
  const chain = [parseUnary(cursor, field)];
  while (takeOperator(cursor, 'and')) chain.push(parseUnary(cursor, field));
  const only = chain[0];
  if (only !== undefined && chain.length === 1) return { ...only, explicit };
  return {
    occur: 'should',
    explicit,
    node: and(chain.map(({ occur, node }) => (occur === 'never' ? not(node) : node))),
  };
}

/** Takes `AND` or `OR` where a clause follows; without one a small `and` is left to be a word. */
function takeOperator(cursor: Cursor, operator: 'and' | 'or'): boolean {
  const token = peek(cursor);
  const behind = peek(cursor, 1);
  if (token.kind !== operator && operatorOf(token, behind) !== operator) return false;
  if (behind.kind === 'end' || behind.kind === 'close') {
    if (token.kind === 'word' && token.raw !== token.raw.toUpperCase()) return false;
    return fail('SEARCH_QUERY_SYNTAX', token, {
      got: `${written(cursor, token)} without a clause behind it`,
      allowed: `a clause on both sides; the word itself is written "${written(cursor, token)}"`,
    });
  }
  cursor.at += 1;
  return true;
}

function parseUnary(cursor: Cursor, field: string | undefined): { readonly occur: Occur; readonly node: QueryNode } {
  let negated = false;
  let required = false;
  for (;;) {
    const token = peek(cursor);
    const isWord = operatorOf(token, peek(cursor, 1)) === 'not' && startsClause(peek(cursor, 1), peek(cursor, 2));
    if (token.kind === 'plus') required = true;
    else if (token.kind === 'minus' || token.kind === 'bang' || isWord) negated = !negated;
    else break;
    cursor.at += 1;
  }
  const node = parseClause(cursor, field);
  return { occur: negated ? 'never' : required ? 'must' : 'should', node };
}

function parseClause(cursor: Cursor, field: string | undefined): QueryNode {
  const token = peek(cursor);
  const isName = (token.kind === 'word' || token.kind === 'phrase') && peek(cursor, 1).kind === 'colon';
  if (!isName) return parseValue(cursor, field, undefined);
  const name = fieldName(token);
  cursor.at += 2;
  return parseValue(cursor, name === '*' ? undefined : name, token);
}

function parseValue(cursor: Cursor, field: string | undefined, name: TextSpan | undefined): QueryNode {
  const token = peek(cursor);
  cursor.at += 1;
  const node = valueOf(cursor, field, name, token);
  if (token.kind !== 'open') noteSpans(cursor, node, name, { start: token.start, end: peek(cursor, -1).end });
  while (peek(cursor).kind === 'suffix') cursor.at += 1;
  return node;
}

/** One clause, or one under each of two names. */
function noteSpans({ spans }: Cursor, node: QueryNode, name: TextSpan | undefined, value: TextSpan): void {
  const placed = { whole: { start: (name ?? value).start, end: value.end }, value, name };
  for (const clause of node.kind === 'or' ? node.children : [node]) spans.set(clause, placed);
}

function valueOf(cursor: Cursor, field: string | undefined, name: TextSpan | undefined, token: Token): QueryNode {
  const { context } = cursor;
  switch (token.kind) {
    case 'word':
      if (name === undefined && /^(?:AND|OR|NOT)$/.test(token.raw)) {
        return fail('SEARCH_QUERY_SYNTAX', token, {
          got: `${token.raw} where a clause is expected`,
          allowed: `a clause on both sides of AND and OR, behind NOT; the word itself is written "${token.raw}"`,
          didYouMean: `"${token.raw}"`,
        });
      }
      return wordLeaf(context, field, token);
    case 'phrase':
      return textLeaf(context, field, 'phrase', token);
    case 'regex':
      return expressionLeaf(context, field, token);
    case 'range':
      return rangeLeaf(context, field, token);
    case 'compare':
      return parseComparison(cursor, field, token);
    case 'open':
      return parseGroup(cursor, field, token);
    default: {
      const allowed =
        name === undefined
          ? 'a word, "a phrase", field:value, a range or ( ... )'
          : `a value behind ${written(cursor, { start: name.start, end: token.start }).trim()}; any value: _exists_:${written(cursor, name)}`;
      return fail('SEARCH_QUERY_SYNTAX', token, { got: written(cursor, token), allowed });
    }
  }
}

function parseComparison(cursor: Cursor, field: string | undefined, operator: TextToken): QueryNode {
  const token = peek(cursor);
  if (token.kind !== 'word' && token.kind !== 'phrase')
    return fail('SEARCH_QUERY_SYNTAX', token, {
      got: written(cursor, token),
      allowed: `a number, time or text behind ${operator.text}`,
    });
  cursor.at += 1;
  const end = { text: token.text, quoted: token.kind === 'phrase', span: token };
  return comparisonLeaf(cursor.context, field, operator, end);
}

function parseGroup(cursor: Cursor, field: string | undefined, opening: TextSpan): QueryNode {
  cursor.open += 1;
  if (cursor.open > cursor.maxParentheses)
    return fail('SEARCH_QUERY_TOO_LARGE', opening, {
      got: `${cursor.open} parentheses within each other`,
      allowed: `${cursor.maxParentheses}`,
    });
  if (peek(cursor).kind === 'close')
    return fail(
      'SEARCH_QUERY_SYNTAX',
      { start: opening.start, end: peek(cursor).end },
      { got: 'empty parentheses', allowed: 'at least one clause within them' },
    );
  const node = parseSequence(cursor, field);
  if (peek(cursor).kind !== 'close')
    return fail('SEARCH_QUERY_UNCLOSED', opening, {
      got: '( without )',
      allowed: 'a ) for each (; as text it is written in quotes or as \\(',
    });
  cursor.at += 1;
  cursor.open -= 1;
  return node;
}

function operatorOf(token: Token, next: Token): 'and' | 'or' | 'not' | undefined {
  if (token.kind !== 'word' || next.kind === 'colon' || token.raw.length > 3) return undefined;
  const word = token.raw.toLowerCase();
  return word === 'and' || word === 'or' || word === 'not' ? word : undefined;
}

function startsClause(token: Token, next: Token): boolean {
  const operator = operatorOf(token, next);
  return (
    token.kind !== 'end' &&
    token.kind !== 'close' &&
    token.kind !== 'and' &&
    token.kind !== 'or' &&
    operator !== 'and' &&
    operator !== 'or'
  );
}

function fieldName(token: WordToken | TextToken): string {
  if (token.text === '_missing_')
    return fail('SEARCH_QUERY_FIELD', token, {
      got: '_missing_',
      allowed: 'NOT _exists_:field',
      didYouMean: 'NOT _exists_',
    });
  if (/^_?exists?_?$/i.test(token.text) && token.text.includes('_') && token.text !== '_exists_')
    return fail('SEARCH_QUERY_FIELD', token, { got: token.text, allowed: '_exists_:field', didYouMean: '_exists_' });
  if (token.kind === 'word' && token.wildcards.length > 0 && token.text !== '*')
    return fail('SEARCH_QUERY_FIELD', token, {
      got: token.raw,
      allowed: 'the name of one field; a star in a name is written \\*',
    });
  return token.text;
}

function combine(items: readonly Item[]): QueryNode {
  const of = (wanted: Occur) =>
    items.filter((item) => item.occur === wanted && !(item.explicit && wanted !== 'should'));
  const plain = items
    .filter((item) => item.explicit || item.occur === 'should')
    .map((item) => (item.occur === 'never' ? not(item.node) : item.node));
  const musts = of('must').map((item) => item.node);
  const nevers = of('never').map((item) => not(item.node));
  if (musts.length > 0) return and([...musts, ...nevers]);
  return and(plain.length > 0 ? [or(plain), ...nevers] : nevers);
}
