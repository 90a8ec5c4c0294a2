/** How large a query is, as search engines count it, and where it grows too large. */
import type { QueryNode } from '../../schemas/query.js';
import type { TextSpan } from '../contract.js';
import { fail } from './problem.js';
import type { Clause } from './tree.js';

/** Where each clause of a text stands; `name` where it has a field of its own. */
export type ClauseSpans = ReadonlyMap<
  QueryNode,
  { readonly whole: TextSpan; readonly value: TextSpan; readonly name: TextSpan | undefined }
>;

interface SizeLimits {
  readonly maxClauses: number;
  readonly maxDepth: number;
}

interface Sized {
  readonly span: TextSpan;
  /** One without a field asks three fields. */
  readonly counts: number;
  /** How many `and`, `or` and `not` stand around it. */
  readonly depth: number;
}

/** Fails at the first clause that is one too many, or nested too deep. */
export function checkSize(node: QueryNode, spans: ClauseSpans, { maxClauses, maxDepth }: SizeLimits): void {
  const sized: Sized[] = [];
  collect(node, 0, spans, sized);
  sized.sort((left, right) => left.span.start - right.span.start);
  let clauses = 0;
  const last = sized.find(({ counts }) => (clauses += counts) > maxClauses);
  if (last !== undefined)
    fail('SEARCH_QUERY_TOO_LARGE', last.span, {
      got: `${sized.reduce((sum, { counts }) => sum + counts, 0)} clauses`,
      allowed: `${maxClauses} clauses; one without a field counts three`,
    });
  const deep = sized.find(({ depth }) => depth > maxDepth);
  if (deep !== undefined)
    fail('SEARCH_QUERY_TOO_LARGE', deep.span, {
      got: `a nesting of ${sized.reduce((most, { depth }) => Math.max(most, depth), 0)}`,
      allowed: `a nesting of ${maxDepth}`,
    });
}

function collect(node: QueryNode, depth: number, spans: ClauseSpans, sized: Sized[]): void {
  if (node.kind === 'not') return collect(node.child, depth + 1, spans, sized);
  if (node.kind === 'and' || node.kind === 'or') {
    for (const child of node.children) collect(child, depth + 1, spans, sized);
    return;
  }
  const span = spans.get(node)?.whole;
  if (span !== undefined) sized.push({ span, counts: (node as Clause).field === undefined ? 3 : 1, depth });
}
