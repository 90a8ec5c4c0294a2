/** How large a query is, as search engines count it, and where it grows too large. */
import type { QueryNode } from '../../schemas/query.js';
import { fail, type Place } from './problem.js';
import type { Clause } from './tree.js';

/** Where each clause of a text stands; `name` where it has a field of its own. */
export type ClausePlaces = ReadonlyMap<
  QueryNode,
  { readonly whole: Place; readonly value: Place; readonly name: Place | undefined }
>;

export interface SizeLimits {
  readonly maxClauses: number;
  readonly maxDepth: number;
}

interface Sized {
  readonly place: Place;
  /** One without a field asks three fields. */
  readonly counts: number;
  /** Of `and`, `or` and `not` around it. */
  readonly depth: number;
}

/** Fails at the first clause that is one too many, or nested too deep. */
export function checkSize(node: QueryNode, places: ClausePlaces, { maxClauses, maxDepth }: SizeLimits): void {
  const sized: Sized[] = [];
  collect(node, 0, places, sized);
  sized.sort((left, right) => left.place.start - right.place.start);
  let clauses = 0;
  const last = sized.find(({ counts }) => (clauses += counts) > maxClauses);
  if (last !== undefined)
    fail(
      'SEARCH_QUERY_TOO_LARGE',
      last.place,
      `${sized.reduce((sum, { counts }) => sum + counts, 0)} clauses`,
      `${maxClauses} clauses; one without a field counts three`,
    );
  const deep = sized.find(({ depth }) => depth > maxDepth);
  if (deep !== undefined)
    fail(
      'SEARCH_QUERY_TOO_LARGE',
      deep.place,
      `a nesting of ${sized.reduce((most, { depth }) => Math.max(most, depth), 0)}`,
      `a nesting of ${maxDepth}`,
    );
}

function collect(node: QueryNode, depth: number, places: ClausePlaces, sized: Sized[]): void {
  if (node.kind === 'not') return collect(node.child, depth + 1, places, sized);
  if (node.kind === 'and' || node.kind === 'or') {
    for (const child of node.children) collect(child, depth + 1, places, sized);
    return;
  }
  const place = places.get(node)?.whole;
  if (place !== undefined) sized.push({ place, counts: (node as Clause).field === undefined ? 3 : 1, depth });
}
