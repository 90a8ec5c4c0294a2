/** A query text as a tree, or the error that says what is wrong with it. */
import type { QueryNode } from '../../schemas/query.js';
import { parseQuery } from './parser.js';
import { isQueryProblem, queryError } from './problem.js';

export function readQuery(text: string): QueryNode {
  const query = parseQuery(text);
  if (isQueryProblem(query)) throw queryError(query);
  return query;
}
