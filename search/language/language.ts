/** The query language as a port: what the API asks of it. */
import type { SearchSettings } from '../../schemas/config/search.js';
import type { CheckedQuery, QueryLanguage } from '../contract.js';
import { queryOptions } from './options.js';
import { parseLocated, parseQuery } from './parser.js';
import { printQuery } from './print.js';
import { isQueryProblem, problemText, queryError } from './problem.js';
import { readSort } from './sort-text.js';
import { queryWarnings } from './warnings.js';

export function createQueryLanguage(settings: SearchSettings): QueryLanguage {
  const options = queryOptions(settings);
  return {
    parse(text) {
      const node = parseQuery(text, options);
      if (isQueryProblem(node)) throw queryError(node);
      return node;
    },
    check(text): CheckedQuery {
      const query = parseLocated(text, { ...options, aliases: false });
      if (query.kind === 'query')
        return { hasClauses: query.spans.size > 0, warnings: (fields) => queryWarnings(query, fields) };
      const span = { start: query.position, end: query.position + query.length };
      return { problem: { message: problemText(query), span }, hasClauses: false, warnings: () => [] };
    },
    print: printQuery,
    sortOrder: readSort,
  };
}
