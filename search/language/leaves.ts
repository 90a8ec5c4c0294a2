/** Single clauses: what a term, phrase, pattern or range on a field becomes. */
import { RE2JS } from 're2js';
import type { QueryNode, RangeEnd } from '../../schemas/query.js';
import { timeFields } from '../../schemas/index-fields.js';
import { lowerCase, textFields } from '../../schemas/words.js';
import { expressionProblem, lowerCaseExpression, wildcardExpression } from './patterns.js';
import { fail } from './problem.js';
import { parseTime, timeForms, type TimeSpan } from '../../core/time/times.js';
import type { TextSpan } from '../contract.js';
import type { EndToken, RangeToken, TextToken, WordToken } from './tokens.js';
import { all, or } from './tree.js';
import { readNumber } from '../../core/values.js';

export interface LeafContext {
  /** Milliseconds since the epoch that `now` means. */
  readonly now: number;
  readonly aliases: boolean;
  readonly leadingWildcards: boolean;
}

/** Two names that senders use for one thing; each is searched for the other. */
export const aliasPairs: readonly (readonly [string, string])[] = [
  ['container', 'container_name'],
  ['pod', 'pod_name'],
  ['namespace', 'namespace_name'],
  ['host', 'hostname'],
];
const partners = new Map(aliasPairs.flatMap((pair) => pair.map((name) => [name, pair] as const)));

/** The other of two names of one thing. */
export function partnerOf(field: string): string | undefined {
  return partners.get(field)?.find((name) => name !== field);
}

type Leaf = Exclude<QueryNode, { readonly kind: 'and' | 'or' | 'not' | 'all' | 'none' }>;

function withAliases(context: LeafContext, leaf: Leaf): QueryNode {
  const pair = leaf.field === undefined || !context.aliases ? undefined : partners.get(leaf.field);
  return pair === undefined ? leaf : or(pair.map((field) => ({ ...leaf, field })));
}

export function wordLeaf(context: LeafContext, field: string | undefined, token: WordToken): QueryNode {
  if (token.wildcards.length === 0) return textLeaf(context, field, 'term', token);
  const stars = token.wildcards.length === token.text.length && !token.text.includes('?');
  if (field === '_exists_')
    return fail('SEARCH_QUERY_FIELD', token, { got: token.raw, allowed: 'the name of one field' });
  if (stars) return field === undefined ? all : withAliases(context, { kind: 'exists', field });
  if (!context.leadingWildcards && token.wildcards[0] === 0)
    fail('SEARCH_QUERY_WILDCARD', token, {
      got: token.raw,
      allowed: 'a letter first, or the setting search.leading_wildcards',
    });
  refuseTime(field, token, token.raw, 'a wildcard');
  const fold = foldsCase(field) ? lowerCase : (text: string) => text;
  const wild = new Set(token.wildcards);
  const literal = [...token.text.matchAll(/[*?]/g)].some((found) => !wild.has(found.index));
  if (!literal) return withAliases(context, { kind: 'wildcard', field, pattern: fold(token.text) });
  // A literal star beside a wildcard has no place in a wildcard pattern: it becomes an expression.
  let expression = '';
  let from = 0;
  for (const at of token.wildcards) {
    expression += RE2JS.quote(fold(token.text.slice(from, at))) + wildcardExpression(token.text.charAt(at));
    from = at + 1;
  }
  return withAliases(context, {
    kind: 'regex',
    field,
    pattern: expression + RE2JS.quote(fold(token.text.slice(from))),
  });
}

export function textLeaf(
  context: LeafContext,
  field: string | undefined,
  kind: 'term' | 'phrase',
  { text, ...span }: TextSpan & { readonly text: string },
): QueryNode {
  if (field === '_exists_') return withAliases(context, { kind: 'exists', field: text });
  if (field === undefined || !timeFields.has(field)) return withAliases(context, { kind, field, text });
  const { first, last } = readTime(context, text, span);
  return {
    kind: 'range',
    field,
    from: { value: first, inclusive: true },
    to: { value: last, inclusive: true },
  };
}

export function expressionLeaf(context: LeafContext, field: string | undefined, token: TextToken): QueryNode {
  if (field === '_exists_')
    return fail('SEARCH_QUERY_FIELD', token, { got: `/${token.text}/`, allowed: 'the name of one field' });
  refuseTime(field, token, `/${token.text}/`, 'a regular expression');
  const problem = expressionProblem(token.text);
  if (problem !== undefined)
    return fail('SEARCH_QUERY_EXPRESSION', token, {
      got: problem,
      allowed:
        'RE2 syntax between slashes: no look-around, no back-references; a path is written in quotes or with \\/',
    });
  return withAliases(context, {
    kind: 'regex',
    field,
    pattern: foldsCase(field) ? lowerCaseExpression(token.text) : token.text,
  });
}

export function comparisonLeaf(
  context: LeafContext,
  field: string | undefined,
  operator: TextToken,
  end: EndToken,
): QueryNode {
  const span = { start: operator.start, end: end.span.end };
  const open: EndToken = { text: '*', quoted: false, span };
  const range = {
    kind: 'range' as const,
    ...span,
    includesFrom: operator.text === '>=',
    includesTo: operator.text === '<=',
  };
  return rangeLeaf(
    context,
    field,
    operator.text.startsWith('>') ? { ...range, from: end, to: open } : { ...range, from: open, to: end },
  );
}

export function rangeLeaf(context: LeafContext, field: string | undefined, token: RangeToken): QueryNode {
  if (field === undefined)
    return fail('SEARCH_QUERY_FIELD', token, {
      got: 'a range without a field',
      allowed: 'field:[from TO to]; text with brackets is written in quotes',
    });
  if (textFields.has(field) || field === '_exists_')
    return fail('SEARCH_QUERY_FIELD', token, {
      got: `a range on ${field}, which holds words`,
      allowed: 'words, phrases, wildcards and expressions',
    });
  const isOpen = (end: EndToken) => end.text === '*' && !end.quoted;
  if (isOpen(token.from) && isOpen(token.to)) return withAliases(context, { kind: 'exists', field });
  if (timeFields.has(field)) return timeRange(context, field, token);
  const ends = [token.from, token.to].filter((end) => !isOpen(end));
  const numeric = ends.every((end) => readNumber(end.text) !== undefined);
  const read = (end: EndToken, inclusive: boolean): RangeEnd | undefined =>
    isOpen(end)
      ? undefined
      : {
          value: numeric ? (readNumber(end.text) ?? 0) : field === 'source' ? lowerCase(end.text) : end.text,
          inclusive,
        };
  return withAliases(context, {
    kind: 'range',
    field,
    from: read(token.from, token.includesFrom),
    to: read(token.to, token.includesTo),
  });
}

/** An end that is a whole day or minute counts whole: included ends reach over it, excluded ones leave it out. */
function timeRange(context: LeafContext, field: string, token: RangeToken): QueryNode {
  const read = (end: EndToken, inclusive: boolean, side: 'from' | 'to'): RangeEnd | undefined => {
    if (end.text === '*' && !end.quoted) return undefined;
    const { first, last } = readTime(context, end.text, end.span);
    return { value: (side === 'from') === inclusive ? first : last, inclusive };
  };
  return {
    kind: 'range',
    field,
    from: read(token.from, token.includesFrom, 'from'),
    to: read(token.to, token.includesTo, 'to'),
  };
}

function readTime(context: LeafContext, text: string, span: TextSpan): TimeSpan {
  return (
    parseTime(text, context.now) ?? fail('SEARCH_QUERY_TIME', span, { got: JSON.stringify(text), allowed: timeForms })
  );
}

function refuseTime(field: string | undefined, span: TextSpan, got: string, what: string): void {
  if (field !== undefined && timeFields.has(field))
    fail('SEARCH_QUERY_FIELD', span, {
      got: `${got}, ${what} on a time`,
      allowed: `a time or a range: ${field}:2026-01-02, ${field}:[now-1d TO now]`,
    });
}

function foldsCase(field: string | undefined): boolean {
  return field === undefined || field === 'source' || textFields.has(field);
}
