/** What the settings allow of a query text. */
import type { SearchSettings } from '../../schemas/config/search.js';
import type { QueryOptions } from './parser.js';

export function queryOptions(settings: SearchSettings): QueryOptions {
  return {
    maxLength: settings.max_query_length,
    maxClauses: settings.max_clauses,
    maxDepth: settings.max_depth,
    leadingWildcards: settings.leading_wildcards,
  };
}
